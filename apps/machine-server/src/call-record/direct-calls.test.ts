/** Which calls of a running machine-server are recorded, and as whose. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import {
  CallerPath,
  type OpenLinkRequest,
  RelayService,
  type ReportedCalls,
} from '@platform/proto/platform/relay/v1/relay';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { byteStreamOver, connect, connectOver, type Link } from '@platform/rpc/client';
import { serve } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { type GaugeClient, gauge, gaugeService, tank } from '../testing/gauge.ts';
import { createLocalHome, startLocalServer } from '../testing/local-machine.ts';
import { createTestHome, startTestServer } from '../testing/start-test-server.ts';

const motor = { name: 'left', api: 'core:component:motor', model: 'core:builtin:fake' };

/** A cloud that passes calls on, and keeps records of others. */
function relay() {
  const reported: ReportedCalls[] = [];
  const opened = Promise.withResolvers<Link>();
  async function* dataOf(messages: AsyncIterator<OpenLinkRequest>): AsyncGenerator<Uint8Array, void> {
    // When the machine stops, its link is cut.
    const next = () => messages.next().catch(() => undefined);
    for (let each = await next(); each !== undefined && each.done !== true; each = await next()) yield each.value.data;
  }
  const service = serve<typeof RelayService, string>(RelayService, {
    async *openLink(requests) {
      const messages = requests[Symbol.asyncIterator]();
      await messages.next();
      const { duplex, outgoing } = byteStreamOver(dataOf(messages));
      yield { data: new Uint8Array() };
      await using link = connectOver({ stream: duplex, peerName: 'the machine', userAgent: 'test' });
      opened.resolve(link);
      for await (const data of outgoing) yield { data };
    },
    reportCalls({ calls }) {
      reported.push(...calls);
    },
  });
  return { service, reported, relayed: opened.promise };
}

const summary = ({ caller, operation, resource, count, lastArguments }: ReportedCalls) =>
  `${caller} ${operation} ${resource} ${count} ${lastArguments}`;

test('calls with a key are recorded as those of the key, if they are more than reads; calls through the cloud and of modules are not', async () => {
  const { service, reported, relayed } = relay();
  const auth = {
    handlers: [
      { type: 'api-key', config: { k: 'key', keys: ['k'] } },
      { type: 'robot-location-secret', config: { secret: 'location' } },
    ],
  };
  const document = { components: [motor, { name: 'tank', api: gauge.api, model: tank.model }], auth };
  await using cloud = await startFakeCloud(document, 0, [service]);
  await using home = await createTestHome(cloud.url);
  {
    await using server = await startTestServer(home, undefined, { types: [gauge], models: [tank] });
    const credentials = { entity: 'k', type: 'api-key', payload: 'key' };
    await using direct = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}`, credentials });
    const motors = direct.client(MotorService);
    for (const powerPct of [0.25, 0.5]) await motors.setPower({ name: 'left', powerPct });
    await motors.stop({ name: 'left' });
    await motors.isPowered({ name: 'left' });
    await expect(motors.stop({ name: 'none' })).rejects.toMatchObject({ code: 'not_found' });
    const robot = direct.client(RobotService);
    await robot.getMachineStatus({});
    const { id } = await robot.startSession({});
    await robot.sendSessionHeartbeat({ id });
    await robot.stopAll({});
    const gauges = direct.client(gaugeService) as unknown as GaugeClient;
    async function* filling() {
      yield { step: { case: 'init', value: { gaugeName: 'tank' } } } as const;
      yield { step: { case: 'litres', value: 5 } } as const;
    }
    expect((await gauges.fill(filling())).litres).toBe(5);
    for await (const _ of gauges.fillAndWatch(filling()));

    const headers = { 'platform-caller': 'person:ada' };
    await (await relayed).client(MotorService).setPower({ name: 'left', powerPct: 1 }, { headers });
    const socketPath = join(home.path, 'module.sock');
    await using _parent = await server.serving.openParent('m', socketPath);
    await using module = connect({ baseUrl: 'http://parent', socketPath });
    await module.client(MotorService).setPower({ name: 'left', powerPct: 1 });
  }
  expect(reported.map(summary).toSorted()).toEqual([
    'api-key:k MotorService.SetPower left 2 {"name":"left","power_pct":0.5}',
    'api-key:k MotorService.Stop left 1 {"name":"left"}',
    'api-key:k MotorService.Stop none 1 {"name":"none"}',
    'api-key:k RobotService.StopAll  1 {}',
    'api-key:k acme.gauge.v1.GaugeService.Fill tank 1 {"init":{"gauge_name":"tank"}}',
    'api-key:k acme.gauge.v1.GaugeService.FillAndWatch tank 1 {"init":{"gauge_name":"tank"}}',
  ]);
  expect(new Set(reported.map(({ path, callerName }) => `${path} ${callerName}`))).toEqual(
    new Set([`${CallerPath.DIRECT} 127.0.0.1`]),
  );
  expect(readdirSync(join(home.path, 'call-records')).length).toBe(1);
});

test('on an open machine nobody is known: calls are recorded with the address of the caller', async () => {
  const { service, reported } = relay();
  await using cloud = await startFakeCloud({ components: [motor] }, 0, [service]);
  await using home = await createTestHome(cloud.url);
  {
    await using server = await startTestServer(home);
    await using direct = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
    await direct.client(MotorService).setPower({ name: 'left', powerPct: 0 });
  }
  expect(reported).toMatchObject([
    { caller: '', callerName: '127.0.0.1', lastArguments: '{"name":"left","power_pct":0}' },
  ]);
});

test('without a cloud nothing is recorded', async () => {
  await using home = await createLocalHome({ components: [motor] });
  {
    await using server = await startLocalServer(home);
    await using direct = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
    await direct.client(MotorService).setPower({ name: 'left', powerPct: 0 });
  }
  expect(existsSync(join(home.path, 'call-records'))).toBe(false);
});
