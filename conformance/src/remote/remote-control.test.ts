/** Remote control: a real machine-server behind a real cloud, called with the SDK, the command line, grpc-js, gRPC-Web and Connect. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { PlatformError, systemClock } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { board, motor, sensor } from '@platform/sdk/machine';
import { createFaultProxy, type FaultProxy } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from '../cli/command-line.ts';
import { Peer } from '../clients/grpc-peer.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type MachineProcess, startMachine } from './start-machine.ts';

const configuration = {
  components: [
    ...[
      ['temp', 'sensor', { readings: { celsius: 21 } }],
      ['left', 'motor', {}],
      ['pins', 'board', {}],
    ].map(([name, type, attributes]) => ({
      ...{ name, attributes, api: `core:component:${type}`, model: 'core:builtin:fake' },
    })),
  ],
  network: { sessions: { heartbeat_window: '5s' } },
};

let cloud: CloudProcess;
let proxy: FaultProxy;
let machine: MachineProcess;
let cli: CommandLine;
let client: Cloud;

beforeAll(async () => {
  cloud = await startCloud();
  const { hostname, port } = new URL(cloud.url);
  proxy = await createFaultProxy({ host: hostname, port: Number(port) });
  const { keyId, key, url } = cloud;
  cli = await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key });
  await cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify(configuration) });
  client = openCloud({ url, keyId, key });
});
afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
  await cli?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await systemClock.sleep(50);
}

const linked = async (): Promise<boolean> =>
  (await client.fleet.getPartStatus({ partId: cloud.partId })).linkSince !== undefined;
const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'ok',
    (caught: unknown) => (caught instanceof PlatformError ? `${caught.code}: ${caught.message}` : caught),
  );

test('a machine that never connected is reported, as is a call without the header', async () => {
  using remote = client.machine(cloud.partId);
  expect(await codeOf(remote.robot.resourceNames({}))).toMatch(/^unavailable: the machine ".+" .*has never connected/);
  const bare = client.machine('');
  expect(await codeOf(bare.robot.resourceNames({}))).toMatch(/^invalid_argument: .*in the header platform-part/);
  expect(await codeOf(client.machine('nobody').robot.resourceNames({}))).toMatch(/^not_found/);
});

test('the SDK calls resources through the cloud, with every kind of method', async () => {
  machine = await startMachine(cloud, `http://${proxy.host}:${proxy.port}`);
  await until(linked);
  using remote = client.machine(cloud.partId);
  await until(async () => (await remote.resourceNames()).length === 3);
  expect((await remote.resourceNames()).toSorted()).toEqual([
    ...['core:component:board/pins', 'core:component:motor/left', 'core:component:sensor/temp'],
  ]);
  expect(await remote.resource(sensor, 'temp').readings({})).toMatchObject({ celsius: 21 });
  const left = remote.resource(motor, 'left');
  const { signal } = new AbortController();
  await left.setPower({ powerPct: 0.5 } as never, { signal });
  expect(await left.isPowered({} as never, { signal })).toMatchObject({ isOn: true });
  await left.stop({} as never, { signal });
  expect(await left.isPowered({} as never, { signal })).toMatchObject({ isOn: false });
  // Errors come from the machine.
  expect(await codeOf(remote.resource(motor, 'right').stop({} as never, { signal }))).toBe(
    'not_found: this machine has no motor "right"',
  );
  const leave = new AbortController();
  const ticks = remote.resource(board, 'pins').streamTicks({ pinNames: ['1'] } as never, { signal: leave.signal });
  const first = ticks[Symbol.asyncIterator]().next();
  leave.abort();
  expect(await codeOf(first)).toMatch(/canceled/);
});

test('data that the cloud passes on to a machine and back is metered, and data that a machine sends without calls is not', async () => {
  const used = async (): Promise<number> => {
    const { records } = await client.prices.listUsage({ organizationId: cloud.organizationId });
    const ofCalls = records.filter(({ type }) => type === UsageCostType.REMOTE_CONTROL);
    return ofCalls.reduce((sum, { quantity }) => sum + Number(quantity), 0);
  };
  using remote = client.machine(cloud.partId);
  const before = await used();
  expect(before).toBeGreaterThan(0);
  await remote.resource(sensor, 'temp').doCommand({ text: 'x'.repeat(50_000) });
  const call = (await used()) - before;
  // The fake sends the text back.
  expect(call).toBeGreaterThan(50_000);
  expect(call).toBeLessThan(150_000);
  expect((await used()) - before).toBe(call);
});

test('grpc-js under the public names, gRPC-Web and Connect call the machine', async () => {
  using peer = await new Peer(cloud.target, 'viam').signIn(cloud.keyId, 'api-key', cloud.key);
  peer.withHeader('platform-part', cloud.partId);
  const names = await peer.call('platform.robot.v1.RobotService', 'ResourceNames', {});
  expect(names['resources']).toContainEqual({ namespace: 'rdk', type: 'component', subtype: 'motor', name: 'left' });
  await peer.call('platform.component.motor.v1.MotorService', 'SetPower', { name: 'left', power_pct: 1 });
  const powered = await peer.call('platform.component.motor.v1.MotorService', 'IsPowered', { name: 'left' });
  expect(powered).toMatchObject({ is_on: true });
  await peer.call('platform.component.motor.v1.MotorService', 'Stop', { name: 'left' });

  const headers = { authorization: `Bearer ${await client.accessToken()}`, 'platform-part': cloud.partId };
  const path = `${cloud.url}/platform.component.sensor.v1.SensorService/GetReadings`;
  const connect = await fetch(path, {
    ...{ method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{"name":"temp"}' },
  });
  expect(await connect.json()).toMatchObject({ readings: { celsius: 21 } });

  const { getReadings } = SensorService.method;
  const message = toBinary(getReadings.input, create(getReadings.input, { name: 'temp' }));
  const body = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const web = await fetch(path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' },
    body,
  });
  const answer = Buffer.from(await web.arrayBuffer());
  const readings = fromBinary(getReadings.output, answer.subarray(5, 5 + answer.readUInt32BE(1)));
  expect(readings.readings).toHaveProperty('celsius');
});

test('operators may read and move, others see no machine, only owners reach the shell; motion is audited', async () => {
  const keyOf = async (role: string, on: string): Promise<Cloud> => {
    const made = await cli.ok(['api-keys', 'create', 'hand', '--role', role, '--machine', on, '--json'], {
      reveals: true,
    });
    const { id, key } = made.json<{ id: string; key: string }>();
    return openCloud({ url: cloud.url, keyId: id, key });
  };
  await using operator = await keyOf('operator', cloud.machineId);
  using remote = operator.machine(cloud.partId);
  expect(await remote.resource(sensor, 'temp').readings({})).toMatchObject({ celsius: 21 });
  await remote.client(motor.service).setPower({ name: 'left', powerPct: 0.1 });
  for (let more = 0; more < 3; more++) await remote.client(motor.service).setPower({ name: 'left', powerPct: 0.2 });
  await remote.robot.stopAll({});
  const { shell } = await import('@platform/sdk/machine');
  expect(await codeOf(remote.client(shell.service).doCommand({ name: 'sh' }))).toMatch(/^permission_denied/);

  const entries = (
    await client.fleet.listAuditEntries({ organizationId: cloud.organizationId, targetId: cloud.partId })
  ).entries.filter(({ actor }) => actor?.name === 'hand');
  expect(entries.map(({ action, detail }) => ({ action, ...JSON.parse(detail) }))).toMatchObject([
    { action: 'RobotService.StopAll', count: 1, path: 'relay' },
    { action: 'MotorService.SetPower', resource: 'left', path: 'relay' },
  ]);
  await expect.poll(() => machine.logged()).toMatch(/called through the cloud.*SetPower/);
});

test('the command line calls methods by short names, and suggests', async () => {
  const run = ['machines', 'part', 'run', cloud.partId];
  const read = await cli.ok([...run, 'sensor.GetReadings', '--json']);
  expect(read.json()).toMatchObject({ readings: { celsius: 21 } });
  await cli.ok([...run, 'motor.SetPower', '{"power_pct": 0.5}', '--resource', 'left']);
  expect((await cli.ok([...run, 'motor.IsPowered', '{"name": "left"}'])).json()).toMatchObject({ is_on: true });
  await cli.ok([...run, 'robot.StopAll']);
  const misspelled = await cli.run([...run, 'motor.SetPover']);
  expect([misspelled.code, misspelled.stderr]).toEqual([2, expect.stringContaining('Did you mean motor.SetPower')]);
  const wrong = await cli.run([...run, 'motor.SetPower', '{"power": 1}']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"power"')]);
  const listed = (await cli.ok(['machines', 'part', 'resources', cloud.partId, '--json'])).json<object[]>();
  expect(listed).toContainEqual({ name: 'left', type: 'core:component:motor', state: 'ready', error: null });
  const status = (await cli.ok(['machines', 'part', 'status', cloud.partId, '--json'])).json();
  expect(status['link_since']).toMatch(/^20/);
});

test('the command line shows a resource that cannot be built as unhealthy, with the reason', async () => {
  const save = (document: object) =>
    cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify(document) });
  const broken = { name: 'broken', api: 'core:component:sensor', model: 'acme:demo:absent' };
  await save({ ...configuration, components: [...configuration.components, broken] });
  const found = async () =>
    (await cli.ok(['machines', 'part', 'resources', cloud.partId, '--json']))
      .json<{ name: string }[]>()
      .find(({ name }) => name === 'broken');
  await until(async () => (await found()) !== undefined);
  expect(await found()).toMatchObject({ state: 'unhealthy', error: expect.stringContaining('absent') });
  await save(configuration);
});

test('machines status shows capture and sync of a machine, in total and for each resource', async () => {
  const { machineId } = cloud;
  const save = (document: object) =>
    cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify(document) });
  const status = async (...more: string[]): Promise<Record<string, unknown>> =>
    (await cli.ok(['machines', 'status', machineId, ...more, '--json'])).json<Record<string, unknown>[]>()[0] ?? {};
  expect(await status()).toMatchObject({ state: 'online', sync: null, captured: null });
  const capture_methods = [{ method: 'Readings', capture_frequency_hz: 20 }];
  const [temp, ...others] = configuration.components;
  await save({
    ...configuration,
    components: [{ ...temp, service_configs: [{ type: 'data_manager', attributes: { capture_methods } }] }, ...others],
    services: [{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes: {} }],
  });
  await until(async () => Number((await status())['uploaded_readings']) > 0);
  expect(await status()).toMatchObject({ sync: 'on', quarantined_files: 0, discarded_readings: 0, sync_error: null });
  expect(await status('--resources')).toMatchObject({ resource: 'core:component:sensor/temp' });
  expect(Number((await status('--resources'))['captured'])).toBeGreaterThan(0);
  await save(configuration);
  await until(async () => (await status())['sync'] === null);
});

test('a second machine-server with the same credentials is reported with the first, in the status and once in the log', async () => {
  expect((await client.fleet.getPartStatus({ partId: cloud.partId })).competingServers).toEqual([]);
  const second = await startMachine(cloud, cloud.url);
  const names = /^\S+ \(pid \d+\), \S+ \(pid \d+\)$/;
  const status = ['machines', 'part', 'status', cloud.partId, '--json'];
  await until(async () => names.test(String((await cli.ok(status)).json()['competing_servers'])));
  const told = async (): Promise<string[]> =>
    (await cli.ok(['logs', cloud.partId, '--json'])).stdout.split('two machine-servers use this part: ');
  await until(async () => (await told()).length > 1);
  expect(await told()).toHaveLength(2);
  await second[Symbol.asyncDispose]();
  // The first one has its link again.
  await until(async () => (await codeOf(client.machine(cloud.partId).robot.resourceNames({}))) === 'ok');
});

test('the motion of a session stops when its client vanishes, and when the link of the machine breaks', async () => {
  const watcher = client.machine(cloud.partId, { session: false }).client(motor.service);
  const isOn = async (): Promise<boolean> => (await watcher.isPowered({ name: 'left' })).isOn;
  const stops = (): number => machine.logged().split('stopping a resource that a session moved').length - 1;
  const atFirst = stops();
  const leaving = client.machine(cloud.partId);
  await leaving.client(motor.service).setPower({ name: 'left', powerPct: 1 });
  expect(await isOn()).toBe(true);
  leaving[Symbol.dispose]();
  await until(async () => !(await isOn()) && stops() > atFirst);

  const before = stops();
  using staying = client.machine(cloud.partId);
  await staying.client(motor.service).setPower({ name: 'left', powerPct: 1 });
  proxy.setFault({ kind: 'refuse' });
  proxy.dropAll();
  const lost = await codeOf(watcher.isPowered({ name: 'left' }));
  expect(lost).toMatch(/unavailable: (the link to the machine ended|.*lost its link)/);
  // The machine itself stops the motor, although it is cut off.
  await until(async () => stops() > before);
  proxy.setFault({ kind: 'none' });
  await until(linked);
  expect(await isOn()).toBe(false);
});

test('the error of a call to a machine that has ended says since when it is offline, or that its link is lost', async () => {
  await machine.kill('SIGKILL');
  await until(async () => !(await linked()));
  expect(await codeOf(client.machine(cloud.partId).robot.resourceNames({}))).toMatch(
    /lost its link to the cloud at 20/,
  );
});

test('machines status shows the last report on capture and sync of an offline part, with its age', async () => {
  const capture_methods = [{ method: 'Readings', capture_frequency_hz: 20 }];
  const [temp] = configuration.components;
  const document = {
    components: [{ ...temp, service_configs: [{ type: 'data_manager', attributes: { capture_methods } }] }],
    services: [{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes: {} }],
  };
  await cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify(document) });
  await machine[Symbol.asyncDispose]();
  machine = await startMachine(cloud, cloud.url);
  const told = async () => (await client.fleet.getPartStatus({ partId: cloud.partId })).data?.status;
  await until(async () => Number((await told())?.['captured'] ?? 0) > 0);
  await machine.kill('SIGKILL');
  await until(async () => !(await linked()));
  // A report may still be on its way when the link has ended.
  await expect
    .poll(async () => {
      const status = await cli.ok(['machines', 'status', cloud.machineId, '--json']);
      const [row] = status.json<Record<string, unknown>[]>();
      const last = await told();
      return { ...row, isLast: row?.['captured'] === last?.['captured'] && row?.['sync'] === last?.['state'] };
    })
    .toMatchObject({
      ...{ link_since: null, isLast: true, captured: expect.any(Number), sync: expect.any(String) },
      ...{ sync_as_of: expect.stringMatching(/^20/), sync_age: expect.stringMatching(/^\d+ (s|min)$/) },
    });
});
