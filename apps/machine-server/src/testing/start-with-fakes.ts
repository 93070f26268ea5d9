/** A machine-server with every fake, for tests. */
import type { DescService, JsonObject } from '@bufbuild/protobuf';
import { resourceTypes } from '@platform/resources';
import { type Client, connect } from '@platform/rpc/client';
import { onTestFinished } from 'vitest';
import type { MachineServer } from '../compose.ts';
import { startFakeCloud } from './fake-cloud.ts';
import { hasFake } from './has-fake.ts';
import { createTestHome, patientClock, startTestServer, until } from './start-test-server.ts';

/** Attributes with which each fake has something to show, by type. */
const attributes: Readonly<Record<string, JsonObject>> = {
  board: {
    analogs: [{ name: 'light', value: 7, min: 0, max: 10, step: 1 }],
    digital_interrupts: [{ name: 'door', pin: '11' }],
  },
  discovery: { discoveries: [{ name: 'found', api: 'rdk:component:camera', model: 'acme:cameras:usb' }] },
  encoder: { ticks_per_rotation: 100 },
  gantry: { lengths_mm: [100, 200] },
  movement_sensor: { latitude: 48.1, longitude: 11.6, linear_velocity: { y: 2 } },
  navigation: { latitude: 48.1, longitude: 11.6 },
  switch: { position_count: 3, labels: ['off', 'low', 'high'] },
  vision: {
    detections: [{ class_name: 'cat', confidence: 0.9, x_min: 1, y_min: 2, x_max: 3, y_max: 4 }],
    classifications: [{ class_name: 'dark', confidence: 0.1 }, { class_name: 'bright' }],
    detections_3d: [{ class_name: 'cup', confidence: 0.8, x: 10, z: 500, size_mm: 40 }],
  },
};

/** A machine with one fake of each type, each named `name`; it ends with the test. @param more attributes, by type or API */
export async function startWithFakes(more: Readonly<Record<string, JsonObject>> = attributes): Promise<Call> {
  const fakes = resourceTypes.flatMap(({ api }) => {
    const [, kind, type = ''] = api.split(':');
    if (!hasFake(api)) return [];
    return [{ kind, resource: { name, api, model: 'core:builtin:fake', attributes: more[api] ?? more[type] ?? {} } }];
  });
  const of = (wanted: string): JsonObject[] =>
    fakes.flatMap(({ kind, resource }) => (kind === wanted ? [resource] : []));
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud({ components: of('component'), services: of('service') }));
  const home = stack.use(await createTestHome(cloud.url));
  const server: MachineServer = stack.use(await startTestServer(home, patientClock));
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` }));
  await until('the configuration', () => cloud.logs.includes('configuration applied'));
  return (service) => link.client(service);
}

export type Call = <S extends DescService>(service: S) => Client<S>;
/** Of every fake. */
export const name = 'it';
