import { silentLog } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Document, Resource, ResourceDescriptor } from '@platform/resources';
import { connect } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { planCapture } from '../capture/plan-capture.ts';
import { readDocument } from '../capture/read-document.ts';
import { Graph } from '../graph/graph.ts';
import type { Model } from '../graph/model.ts';
import { MachineAuth } from './authenticate.ts';
import { startServing } from './serve.ts';

/** A type that the server does not know: its interface, its descriptor and a model are all there is of it. */
interface Gauge extends Resource {
  level(): Promise<number>;
}

const api = 'acme:component:gauge';
const gauge: ResourceDescriptor<Gauge, typeof SensorService> = {
  api,
  service: SensorService,
  implementedBy: (resource): resource is Gauge => 'level' in resource,
  methods: { doCommand: async (found) => ({ result: { level: await found.level() } }) },
  captures: {
    DoCommand: {
      kind: 'tabular',
      read: async (found, params): Promise<Document> => ({ ...params, level: await found.level() }),
    },
  },
};
const config = { name: 'tank', api, model: 'acme:gauges:tank', attributes: {}, depends_on: [], service_configs: [] };

async function startGauge(level: () => Promise<number>) {
  const model: Model = {
    api,
    model: config.model,
    build: async (): Promise<Gauge> => ({ level, close: async () => {} }),
  };
  const stack = new AsyncDisposableStack();
  const graph = stack.use(
    new Graph({ models: [model], configureTimeoutMs: 1_000, clock: new FakeClock(), log: silentLog }),
  );
  await graph.apply([config], 'r1');
  const serving = stack.use(
    await startServing({
      graph,
      types: [gauge],
      auth: new MachineAuth(),
      facts: () => ({
        version: '',
        revision: '',
        appliedMs: 0,
        running: true,
        cloud: { primaryOrgId: '', locationId: '', machineId: '', machinePartId: '' },
      }),
      requestsLimit: 1,
      bindAddress: '127.0.0.1:0',
      log: silentLog,
    }),
  );
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${serving.port}` }));
  return { graph, link, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a type is served, listed and captured by its descriptor alone', async () => {
  await using started = await startGauge(async () => 7);
  const { graph, link } = started;
  const gauges = link.client(SensorService);
  expect((await gauges.doCommand({ name: 'tank', command: {} })).result).toEqual({ level: 7 });
  await expect(gauges.doCommand({ name: 'no' })).rejects.toThrow('this machine has no gauge "no"');
  await expect(gauges.getReadings({ name: 'tank' })).rejects.toMatchObject({ code: 'unimplemented' });
  expect(await link.client(RobotService).resourceRPCSubtypes({})).toMatchObject({
    resourceRpcSubtypes: [
      { subtype: { namespace: 'acme', type: 'component', subtype: 'gauge' }, protoService: SensorService.typeName },
    ],
  });
  const capture_methods = [{ method: 'DoCommand', capture_frequency_hz: 1, additional_params: { unit: 'l' } }];
  const captured = { ...config, service_configs: [{ type: 'data_manager', attributes: { capture_methods } }] };
  const defaults = { tags: [], directory: '/capture', maxFileBytes: 1, ownDirectories: true, types: [gauge] };
  const { plans, problems } = planCapture([captured], defaults, (path) => path);
  expect(problems).toEqual([]);
  const read = readDocument(graph, [gauge]);
  expect(await Promise.all(plans.map(async (plan) => read(plan)))).toEqual([{ unit: 'l', level: 7 }]);
});

test('a resource answers no more calls at the same time than the limit allows', async () => {
  const level = Promise.withResolvers<number>();
  const asked = Promise.withResolvers<void>();
  await using started = await startGauge(() => {
    asked.resolve();
    return level.promise;
  });
  const gauges = started.link.client(SensorService);
  const first = gauges.doCommand({ name: 'tank' });
  await asked.promise;
  await expect(gauges.doCommand({ name: 'tank' })).rejects.toThrow('exceeded request limit 1 on resource tank');
  level.resolve(1);
  expect((await first).result).toEqual({ level: 1 });
  expect((await gauges.doCommand({ name: 'tank' })).result).toEqual({ level: 1 });
});
