/** `GetReadings` and the capture of `Readings`, for every type that has them. */
import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { jsonOf } from './common-methods.ts';
import type { Document, Readable } from './resource.ts';
import type { CaptureMethod } from './resource-descriptor.ts';

export async function getReadings(
  resource: Readable,
  { extra }: { extra?: Document | undefined },
): Promise<{ readings: Record<string, Value> }> {
  const readings = Object.entries(jsonOf(await resource.readings(extra ?? {})));
  return { readings: Object.fromEntries(readings.map(([key, value]) => [key, fromJson(ValueSchema, value)])) };
}

/** As `{readings: {…}}`. The request tells the resource that data capture is calling, not a client. */
export const readingsCapture: CaptureMethod<Readable> = {
  kind: 'tabular',
  read(resource, params) {
    const result = resource.readings({ ...params, fromDataManagement: true });
    return result instanceof Promise ? result.then((readings) => ({ readings })) : { readings: result };
  },
};

/** `readings` of a resource in another process. */
export function readingsOver(client: {
  getReadings(request: { extra: JsonObject }): Promise<{ readings: Record<string, Value> }>;
}): Pick<Readable, 'readings'> {
  return {
    async readings(extra) {
      const { readings } = await client.getReadings({ extra: jsonOf(extra) });
      return Object.fromEntries(Object.entries(readings).map(([key, value]) => [key, toJson(ValueSchema, value)]));
    },
  };
}
