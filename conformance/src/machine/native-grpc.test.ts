/** @grpc/grpc-js, which shares no code with ours, calls each RPC of each component natively; when a client is killed, its motion stops. */
import { systemClock } from '@platform/base';
import { resourceTypes } from '@platform/resources';
import { type ChildProcess, spawnChild } from '@platform/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Answer, Peer } from '../clients/grpc-peer.ts';
import { nativeCalls, streams } from './native-calls.ts';
import { fakesOfEveryType, type MachineProcess, startMachine } from './start-machine.ts';

const components = resourceTypes.filter(({ api }) => api.includes(':component:'));
const services = new Map(components.map(({ api, service }) => [api.split(':')[2] ?? '', service]));
const motor = 'platform.component.motor.v1.MotorService';
const robot = 'platform.robot.v1.RobotService';
let machine: MachineProcess;

beforeAll(async () => {
  machine = await startMachine(fakesOfEveryType());
});
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]();
});

/** The resource under every field name that requests use. */
function nameOf(type: string): object {
  const name = type === 'camera' ? 'eye' : 'it';
  return { name, board_name: name, controller: name };
}

test('every RPC of every component is called', async () => {
  const common = ['DoCommand', 'GetStatus', 'GetGeometries'];
  const all = [...services].flatMap(([type, { methods }]) =>
    methods.filter(({ name }) => !common.includes(name)).map(({ name }) => `${type}.${name}`),
  );
  const called = new Set([...nativeCalls.map((each) => each.call), ...streams]);
  expect(all.filter((each) => !called.has(each))).toEqual([]);

  using peer = new Peer(machine.target);
  for (const [type, { methods, typeName }] of services)
    for (const { name } of methods.filter((method) => common.includes(method.name)))
      await peer.call(typeName, name, nameOf(type));
});

describe.each(['viam', 'platform'] as const)('native gRPC under /%s.', (prefix) => {
  test('each RPC of each component works', async () => {
    // Both spellings act on the same machine, so each run resets it first.
    await using fresh = await startMachine(fakesOfEveryType());
    using peer = new Peer(fresh.target, prefix);
    for (const { call, request, answer } of nativeCalls) {
      const [type = '', method = ''] = call.split('.');
      const service = services.get(type);
      const isStream = service?.methods.find(({ name }) => name === method)?.methodKind === 'server_streaming';
      const full = { ...nameOf(type), ...request };
      const found = isStream
        ? await firstOf(peer.stream(service?.typeName ?? '', method, full))
        : await peer.call(service?.typeName ?? '', method, full);
      expect(listsContain(found, answer), `${call}: ${JSON.stringify(found)}`).toBe(true);
    }
  });

  test('names, types and status are in the vocabulary of the caller', async () => {
    using peer = new Peer(machine.target, prefix);
    const namespace = prefix === 'viam' ? 'rdk' : 'core';
    const { resources } = (await peer.call(robot, 'ResourceNames', {})) as { resources: Answer[] };
    expect(resources).toContainEqual({ namespace, type: 'component', subtype: 'motor', name: 'it' });
    const { resources: states } = await peer.call(robot, 'GetMachineStatus', {});
    expect(states).toContainEqual(
      expect.objectContaining({ reachability: 'REACHABILITY_REACHABLE', state: 'STATE_READY' }),
    );
    const { frame_system_configs: frames } = await peer.call(robot, 'FrameSystemConfig', {});
    expect(frames).toContainEqual(
      expect.objectContaining({ model: expect.objectContaining({ name: 'it', output_frames: ['wrist_yaw'] }) }),
    );
    const { resource_rpc_subtypes: types } = await peer.call(robot, 'ResourceRPCSubtypes', {});
    expect(JSON.stringify(types)).toContain(`"${prefix}.component.motor.v1.MotorService"`);
  });
});

test('streams: positions for an arm, ticks of a board, events of a controller, sound for an audio output', async () => {
  using peer = new Peer(machine.target);
  const arm = 'platform.component.arm.v1.ArmService';
  const path = peer.converse(arm, 'MoveThroughJointPositionsStreamed', {});
  const positions = { values: [1, 2, 3, 4, 5, 6] };
  path.write({ name: 'it', init: {} });
  path.write({ name: 'it', batch: { points: [{ positions: { values: [0, 0, 0, 0, 0, 0] } }, { positions }] } });
  expect(await firstOf(path)).toMatchObject({ ack: {} });
  expect(await peer.call(arm, 'GetJointPositions', { name: 'it' })).toMatchObject({ positions });

  const board = 'platform.component.board.v1.BoardService';
  const ticks = peer.stream(board, 'StreamTicks', { name: 'it', pin_names: ['door'] });
  const tick = firstOf(ticks);
  let high = false;
  // The stream counts from the time at which the board follows it.
  for (let seen = false; !seen; ) {
    high = !high;
    await peer.call(board, 'SetGPIO', { name: 'it', pin: '11', high });
    seen = await Promise.race([tick.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))]);
  }
  expect(await tick).toMatchObject({ pin_name: 'door' });

  const controllers = 'platform.component.inputcontroller.v1.InputControllerService';
  const events = peer.stream(controllers, 'StreamEvents', {
    controller: 'it',
    events: [{ control: 'ButtonStart', events: ['ButtonPress'] }],
  });
  const first = firstOf(events);
  const event = { control: 'ButtonStart', event: 'ButtonPress', value: 1 };
  for (let seen = false; !seen; ) {
    await peer.call(controllers, 'TriggerEvent', { controller: 'it', event });
    seen = await Promise.race([first.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))]);
  }
  expect(await first).toMatchObject({ event: { control: 'ButtonStart' } });

  const speaker = 'platform.component.audioout.v1.AudioOutService';
  await peer.send(speaker, 'PlayStream', [{ init: { name: 'it' } }, { audio_chunk: { audio_data: Buffer.alloc(5) } }]);
  const { result } = await peer.call(speaker, 'GetStatus', { name: 'it' });
  expect(JSON.stringify(result)).toContain('"bytes":{"numberValue":5');
});

test('a client of API 0.1.601 plans and drives with the navigation service, and sees objects in three dimensions', async () => {
  using peer = new Peer(machine.target);
  const navigation = 'platform.service.navigation.v1.NavigationService';
  const call = (method: string, request: object = {}) => peer.call(navigation, method, { name: 'it', ...request });
  expect(await call('GetProperties')).toMatchObject({ properties: { map_type: 'MAP_TYPE_LOCAL' } });
  const pose = { x: 300, y: 400, z: 0, o_x: 0, o_y: 0, o_z: 1, theta: 0 };
  await call('AddLocation', { location_name: 'dock', position: { pose } });
  expect(await call('PlanToLocation', { location_name: 'dock' })).toMatchObject({
    plan: { location: 'dock', length_m: 0.5, path: [{}, { pose }] },
  });
  const { status } = await call('GoToLocation', { location_name: 'dock' });
  expect(status).toMatchObject({ position: { pose }, goal: { state: 'GOAL_STATE_SUCCEEDED', location: 'dock' } });
  expect(await call('GetNavigationStatus')).toMatchObject({ status: { position: { pose } } });
  await expect(call('NavigateToLocation', { location_name: 'moon' })).rejects.toMatchObject({ code: 5 });

  const vision = 'platform.service.vision.v1.VisionService';
  expect(await peer.call(vision, 'GetDetections3D', { name: 'it', camera_name: 'eye' })).toMatchObject({
    detections_3d: [
      {
        transforms: [{ pose_in_observer_frame: { reference_frame: 'eye', pose: { z: 500 } } }],
        classifications: [{ class_name: 'cup', confidence: 0.8 }],
      },
    ],
  });
});

test('an operation has the id chosen by its caller, is listed, and ends when it is cancelled', async () => {
  using peer = new Peer(machine.target);
  const opid = '11111111-2222-4333-8444-555555555555';
  const request = { name: 'it', rpm: 1, revolutions: 1_000 };
  const motion = peer.call(motor, 'GoFor', request, { opid }).catch((error: Error) => error.message);
  const listed = async (): Promise<Answer | undefined> =>
    ((await peer.call(robot, 'GetOperations', {}))['operations'] as Answer[]).find(({ id }) => id === opid);
  await expect.poll(listed).toMatchObject({ method: '/viam.component.motor.v1.MotorService/GoFor' });
  const over = peer.call(robot, 'BlockForOperation', { id: opid });
  await peer.call(robot, 'CancelOperation', { id: opid });
  expect(await motion).toMatch(/^1 CANCELLED: .*cancelled by CancelOperation/);
  await over;
  expect(await listed()).toBeUndefined();
  await expect.poll(() => peer.call(motor, 'IsMoving', { name: 'it' })).toEqual({ is_moving: false });
});

test('clients write to the log, tunnel only to ports that the configuration lists, and shut the server down, which answers first', async () => {
  const own = await startMachine({ components: [] });
  onTestFinished(() => own[Symbol.asyncDispose]());
  using peer = new Peer(own.target);
  const entry = { level: 'WARN', logger_name: 'picker', message: 'the cup is gone' };
  await peer.call(robot, 'Log', { logs: [entry] });
  const line = await own.process.waitForLine(({ msg }) => msg === 'the cup is gone');
  expect(line).toMatchObject({ level: 'warn', logger: 'serve.clients.picker' });
  await expect(peer.call(robot, 'Log', { logs: Array(101).fill(entry) })).rejects.toMatchObject({ code: 3 });

  const tunnel = peer.converse(robot, 'Tunnel', {});
  const refused = new Promise<Error>((resolve) => tunnel.once('error', resolve));
  tunnel.write({ destination_port: 22 });
  expect(await refused).toMatchObject({
    code: 9,
    message: expect.stringContaining('network.traffic_tunnel_endpoints'),
  });
  expect(await peer.call(robot, 'ListTunnels', {})).toEqual({ tunnels: [] });

  expect(await peer.call(robot, 'Shutdown', {})).toEqual({});
  expect(await own.process.exited).toEqual({ code: 0, signal: null });
  const audited = own.process.lines.find(({ msg }) => msg === 'a client shuts this server down');
  expect(audited).toMatchObject({ level: 'warn', by: expect.stringContaining('127.0.0.1:') });
});

test('when a client process is killed with -9, its motor stops within the heartbeat window', async () => {
  const driver: ChildProcess = spawnChild(process.execPath, [
    ...['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'],
    ...[new URL('./drive-motor.ts', import.meta.url).pathname, machine.target],
  ]);
  onTestFinished(async () => void (await driver.kill()));
  using peer = new Peer(machine.target);
  const isMoving = async (): Promise<unknown> => (await peer.call(motor, 'IsMoving', { name: 'it' }))['is_moving'];
  const { windowMs } = await driver.waitForLine(({ driving }) => driving === true);
  expect(windowMs).toBe(2_000);
  expect(await isMoving()).toBe(true);
  // Its heartbeats keep the motor running for longer than the window.
  await driver.waitForLine(({ beats }) => Number(beats) > 6);
  expect(await isMoving()).toBe(true);
  const killedMs = systemClock.now();
  await driver.kill('SIGKILL');
  await expect.poll(isMoving, { interval: 50 }).toBe(false);
  const stopped = await machine.process.waitForLine(({ msg }) =>
    String(msg).startsWith('stopping a resource that a session moved'),
  );
  expect(stopped['resource']).toBe('core:component:motor/it');
  // By the clock of the machine-server, so that only its own timer can be late: a second window is for a busy computer.
  expect(Date.parse(String(stopped['time'])) - killedMs).toBeLessThan(2 * Number(windowMs));
});

/** Whether the answer has these fields; a list must have at least the given items. */
function listsContain(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (wanted.every((item) => typeof item === 'number')) return JSON.stringify(found) === JSON.stringify(wanted);
    return Array.isArray(found) && wanted.every((item) => found.some((each) => listsContain(each, item)));
  }
  // The position of an arm follows from its joints, except for the last digits.
  if (typeof wanted === 'number') return Math.abs(Number(found) - wanted) < 1e-6;
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([key, value]) => listsContain((found as Answer)[key], value));
}

function firstOf(stream: ReturnType<Peer['stream']>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    stream.once('data', (message: Answer) => {
      resolve(message);
      stream.on('error', () => {});
      stream.cancel();
    });
    stream.once('error', reject);
  });
}
