import { create } from '@bufbuild/protobuf';
import { noProxies, silentLog, systemClock } from '@platform/base';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { connect } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createFrames } from '../frames/frames.ts';
import { Graph } from '../graph/graph.ts';
import type { Model } from '../graph/model.ts';
import { TypeTable } from '../modules/type-table.ts';
import { type FillRequest, type GaugeClient, gauge, gaugeService, tank } from '../testing/gauge.ts';
import { noModules } from '../testing/modules/no-modules.ts';
import { MachineAuth } from './authenticate.ts';
import { parseBindAddress } from './bind-address.ts';
import { Serving } from './serve.ts';
import { createTunnels } from './tunnels/tunnels.ts';

const config = { name: 'tank', api: gauge.api, attributes: {}, depends_on: [], service_configs: [] };

async function serving(
  model: Model,
  headers: Readonly<Record<string, string>> = {},
): Promise<GaugeClient & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const graph = starting.use(
    new Graph({ models: [model], configureTimeoutMs: 1_000, clock: new FakeClock(), log: silentLog }),
  );
  await graph.apply([{ ...config, model: model.model }], 'r1');
  const types = new TypeTable([gauge]);
  const server = starting.use(
    new Serving({
      graph,
      types,
      modules: noModules,
      remotes: { isAway: () => false },
      packages: { status: () => [], with: () => undefined },
      auth: new MachineAuth({ isPublic: false }),
      facts: () => ({
        version: '',
        running: true,
        partId: '',
        config: create(RobotConfigSchema),
        appliedMs: 0,
        held: undefined,
        error: '',
      }),
      warningsOf: () => [],
      frames: createFrames({ graph, types, log: silentLog }),
      tunnels: createTunnels({ clock: systemClock, log: silentLog }),
      shutdown: () => {},
      ...{ requestsLimit: 1, trustedProxies: noProxies, watchCall: undefined, callRecord: undefined },
      bindAddress: parseBindAddress('127.0.0.1:0'),
      ownNames: () => ({ names: [], allowedHosts: [], allowedOrigins: [] }),
      signaling: { methods: [] },
      ...{ certificate: undefined, tcpModeTrusted: false, profiler: undefined, shared: undefined },
      clock: systemClock,
      log: silentLog,
    }),
  );
  await server.start();
  const link = starting.use(connect({ baseUrl: `http://127.0.0.1:${server.port}` }));
  const stack = starting.move();
  const client = link.withHeaders(async () => headers).client(gaugeService) as unknown as GaugeClient;
  return { ...client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a resource answers no more simultaneous calls than the limit allows; a stream counts until it ends', async () => {
  /** The gauge's answers to the first call, the second, … */
  const levels = [1, 2, 3, 4].map(() => Promise.withResolvers<number>());
  let count = 0;
  const asked = Promise.withResolvers<void>();
  const model: Model = {
    api: gauge.api,
    model: 'acme:gauges:gated',
    build: async () => ({
      level() {
        asked.resolve();
        return levels[count++]?.promise;
      },
      readings: () => ({}),
      close: async () => {},
    }),
  };
  await using client = await serving(model);
  const gaugeName = 'tank';
  const first = client.getLevel({ gaugeName });
  await asked.promise;
  await expect(client.getLevel({ gaugeName })).rejects.toThrow('exceeded request limit 1 on resource tank');
  levels[0]?.resolve(1);
  expect(await first).toMatchObject({ litres: 1 });

  const stream = client.watchLevel({ gaugeName, times: 2 })[Symbol.asyncIterator]();
  levels[1]?.resolve(2);
  expect((await stream.next()).value).toMatchObject({ litres: 2 });
  await expect(client.getLevel({ gaugeName })).rejects.toThrow('exceeded request limit 1 on resource tank');
  levels[2]?.resolve(3);
  expect((await stream.next()).value).toMatchObject({ litres: 3 });
  expect((await stream.next()).done).toBe(true);
  levels[3]?.resolve(4);
  expect(await client.getLevel({ gaugeName })).toMatchObject({ litres: 4 });
});

test('a call forwarded to another process has no time limit except its caller’s', async () => {
  const limits: number[] = [];
  const model: Model = {
    api: gauge.api,
    model: 'acme:gauges:far',
    build: async () => ({
      level: async () => 1,
      forward: {
        async getLevel(_request: unknown, { timeoutMs }: { timeoutMs: number }) {
          limits.push(timeoutMs);
          return { litres: 2 };
        },
      },
      close: async () => {},
    }),
  };
  await using client = await serving(model);
  expect(await client.getLevel({ gaugeName: 'tank' })).toMatchObject({ litres: 2 });
  expect(limits).toEqual([0]);
});

test('a call that the cloud has audited for another resource is refused before anything happens', async () => {
  await using same = await serving(tank, { 'platform-resource': 'tank' });
  expect(await same.getLevel({ gaugeName: 'tank' })).toMatchObject({ litres: 0 });
  await using other = await serving(tank, { 'platform-resource': 'T%C3%BCr' });
  const refused = {
    code: 'failed_precondition',
    message: expect.stringMatching(/has the resource "Tür" for this call, but its request names "tank"/),
  };
  await expect(other.getLevel({ gaugeName: 'tank' })).rejects.toMatchObject(refused);
  async function* filling(): AsyncGenerator<FillRequest, void> {
    yield { step: { case: 'init', value: { gaugeName: 'tank' } } };
  }
  await expect(other.fill(filling())).rejects.toMatchObject(refused);
});
