import { create } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { connect } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { Graph } from '../graph/graph.ts';
import type { Model } from '../graph/model.ts';
import { type GaugeClient, gauge, gaugeService } from '../testing/gauge.ts';
import { MachineAuth } from './authenticate.ts';
import { Serving } from './serve.ts';

const config = { name: 'tank', api: gauge.api, attributes: {}, depends_on: [], service_configs: [] };

test('a resource answers no more simultaneous calls than the limit allows; a stream counts until it ends', async () => {
  /** What the gauge answers, asked for the first time, the second, … */
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
  await using graph = new Graph({ models: [model], configureTimeoutMs: 1_000, clock: new FakeClock(), log: silentLog });
  await graph.apply([{ ...config, model: model.model }], 'r1');
  await using serving = new Serving({
    graph,
    types: [gauge],
    auth: new MachineAuth(),
    facts: () => ({ version: '', running: true, partId: '', config: create(RobotConfigSchema), appliedMs: 0 }),
    requestsLimit: 1,
    bindAddress: '127.0.0.1:0',
    log: silentLog,
  });
  await serving.start();
  await using link = connect({ baseUrl: `http://127.0.0.1:${serving.port}` });
  const client = link.client(gaugeService) as unknown as GaugeClient;
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
