import type { JsonObject } from '@bufbuild/protobuf';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import type { MachineServer } from './compose.ts';
import { type FakeCloud, startFakeCloud } from './testing/fake-cloud.ts';
import { type FillRequest, type GaugeClient, gauge, gaugeService, remoteGauge, tank } from './testing/gauge.ts';
import { createTestHome, patientClock, startTestServer, until } from './testing/start-test-server.ts';

const component = (name: string, model: string, attributes: JsonObject): JsonObject => ({
  ...{ name, api: gauge.api, model, attributes },
  service_configs: [
    {
      type: 'data_manager',
      attributes: { capture_methods: [{ method: 'GetLevel', capture_frequency_hz: 20 }] },
    },
  ],
});
const dataManager = {
  ...{ name: 'dm', api: 'core:service:data_manager', model: 'builtin' },
  attributes: { sync_interval_mins: 0.002 },
};

async function start(document: JsonObject): Promise<{ cloud: FakeCloud; server: MachineServer }> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud(document));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock, { types: [gauge], models: [tank, remoteGauge] }));
  return { cloud, server };
}

function clientOf({ serving }: MachineServer): GaugeClient & { types(): Promise<unknown> } {
  const link = connect({ baseUrl: `http://127.0.0.1:${serving.port}` });
  onTestFinished(() => link[Symbol.asyncDispose]());
  const types = () => link.client(RobotService).resourceRPCSubtypes({});
  return Object.assign(link.client(gaugeService) as unknown as GaugeClient, { types });
}

async function* filling(gaugeName: string, ...litres: number[]): AsyncGenerator<FillRequest, void> {
  yield { step: { case: 'init', value: { gaugeName } } };
  for (const value of litres) yield { step: { case: 'litres', value } };
}

/** Calls every method that the type implements, and one that it does not. */
async function expectServed(client: GaugeClient, name: string, litres: number): Promise<void> {
  expect(await client.getLevel({ gaugeName: name })).toMatchObject({ litres, open: false });
  expect((await client.getPicture({ name })).image).toEqual(new Uint8Array([0, 255, litres]));
  expect(await levels(client.watchLevel({ gaugeName: name, times: 3 }))).toEqual([litres, litres, litres]);
  expect(await client.fill(filling(name, 1, 2))).toMatchObject({ litres: litres + 3 });
  expect(await levels(client.fillAndWatch(filling(name, 1, 2)))).toEqual([litres + 4, litres + 6]);
  await expect(client.fill(filling(name, 200))).rejects.toMatchObject({ code: 'internal' });
  await expect(client.calibrate({ name })).rejects.toMatchObject({ code: 'unimplemented' });
  await expect(client.getLevel({ gaugeName: 'no' })).rejects.toThrow('this machine has no gauge "no"');
  await expect(client.fill(filling('no'))).rejects.toThrow('this machine has no gauge "no"');
  await expect(levels(client.watchLevel({ gaugeName: 'no', times: 1 }))).rejects.toThrow('has no gauge "no"');
}

async function levels(answers: AsyncIterable<{ litres: number }>): Promise<number[]> {
  const found: number[] = [];
  for await (const { litres } of answers) found.push(litres);
  return found;
}

/** Litres in the cloud's stored readings of a gauge. */
const stored = ({ stored: uploads }: FakeCloud, name: string): unknown[] =>
  uploads.flatMap(({ metadata, readings }) => {
    expect(metadata).toMatchObject({ componentType: gauge.api, methodName: 'Level' });
    return metadata.componentName === name ? readings.map(({ data }) => (data.value as JsonObject)['litres']) : [];
  });

test('a type unknown to the product is served, listed and captured by its descriptor, wherever requests name the resource', async () => {
  const { cloud, server } = await start({
    components: [component('water', tank.model, { litres: 7 })],
    services: [dataManager],
  });
  await until('captured levels', () => stored(cloud, 'water').includes(7));
  const client = clientOf(server);
  await expectServed(client, 'water', 7);
  expect(await client.types()).toMatchObject({
    resourceRpcSubtypes: expect.arrayContaining([
      expect.objectContaining({
        subtype: expect.objectContaining({ namespace: 'acme', type: 'component', subtype: 'gauge' }),
        protoService: 'acme.gauge.v1.GaugeService',
      }),
    ]),
  });
});

test('a proxy serves, captures and reads a resource of another machine under its own name, and forwards refusals', async () => {
  const far = await start({
    components: [
      { ...component('water', tank.model, { litres: 7 }), service_configs: [] },
      { ...component('door', tank.model, { open: true }), service_configs: [] },
    ],
  });
  const address = `http://127.0.0.1:${far.server.serving.port}`;
  const remote = (name: string, of: string): JsonObject => component(name, remoteGauge.model, { address, name: of });
  const document = {
    components: [remote('far-water', 'water'), remote('far-door', 'door')],
    services: [dataManager],
    maintenance: { sensor_name: `${gauge.api}/far-door`, maintenance_allowed_key: 'open' },
  };
  const near = await start(document);
  await until('captured levels', () => stored(near.cloud, 'far-water').includes(7));
  await expectServed(clientOf(near.server), 'far-water', 7);
  expect(await clientOf(far.server).getLevel({ gaugeName: 'water' })).toMatchObject({ litres: 213 });

  // The maintenance sensor is the gauge of the other machine, which says that the window is open.
  const edited = { ...document, debug: true };
  near.cloud.document = edited;
  await until('the edit', () => near.cloud.logs.filter((line) => line === 'configuration applied').length === 2);
  near.cloud.document = { ...edited, maintenance: { ...document.maintenance, sensor_name: `${gauge.api}/far-water` } };
  const held = `new configuration waits for its maintenance window: expected true under "open" of ${gauge.api}/far-water, found false`;
  await until('the hold', () => near.cloud.logs.includes(held));
});
