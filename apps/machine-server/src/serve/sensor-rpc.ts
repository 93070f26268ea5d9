/** Sensors over RPC. */
import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { sensor } from '@platform/resources';
import { type ServiceBinding, serve } from '@platform/rpc/server';
import type { Graph } from '../graph/graph.ts';
import { isSensor, type Readings, type Sensor } from '../graph/resource.ts';
import type { Principal } from './authenticate.ts';

/** @param limit most calls in progress for one resource (PLATFORM_RESOURCE_REQUESTS_LIMIT). */
export function sensorRpc(graph: Graph, limit: number): ServiceBinding<Principal> {
  const running = new Map<string, number>();
  const limited = async <T>(name: string, task: (found: Sensor) => Promise<T>): Promise<T> => {
    const found = graph.get(`${sensor.api}/${name}`);
    if (found === undefined || !isSensor(found)) {
      const status = graph.status().find(({ config }) => config.api === sensor.api && config.name === name);
      throw status === undefined
        ? new PlatformError('not_found', `this machine has no sensor "${name}"`)
        : new PlatformError('unavailable', `sensor "${name}" is ${status.state}: ${status.error}`);
    }
    const count = running.get(name) ?? 0;
    if (count >= limit)
      throw new PlatformError('resource_exhausted', `exceeded request limit ${limit} on resource ${name}`);
    running.set(name, count + 1);
    try {
      return await task(found);
    } finally {
      running.set(name, (running.get(name) ?? 1) - 1);
    }
  };
  return serve<typeof SensorService, Principal>(SensorService, {
    getReadings: ({ name, extra }) =>
      limited(name, async (found) => ({ readings: valuesOf(await found.readings(extra ?? {})) })),
    doCommand: ({ name, command }) =>
      limited(name, async (found) => ({ result: jsonOf(await found.doCommand(command ?? {})) })),
    getGeometries: ({ name }) => limited(name, async () => ({ geometries: [] })),
    getStatus: ({ name }) => limited(name, async () => ({ result: {} })),
  });
}

function valuesOf(readings: Readings): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(jsonOf(readings)).map(([key, value]) => [key, fromJson(ValueSchema, value)]),
  );
}

function jsonOf(readings: Readings): JsonObject {
  return JSON.parse(JSON.stringify(readings)) as JsonObject;
}
