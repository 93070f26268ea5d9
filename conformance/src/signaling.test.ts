/** Machines that wait for callers, like public machine-servers: two streams each, which stay open until a caller comes or their right ends. */
import { randomUUID } from 'node:crypto';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, Peer } from './clients/grpc-peer.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

const app = 'platform.app.v1.AppService';
const signaling = 'proto.rpc.webrtc.v1.SignalingService';
const relay = 'platform.relay.v1.RelayService';
let cloud: CloudProcess;
let machine: Peer;
let owner: Peer;
let host: string;

beforeAll(async () => {
  cloud = await startCloud();
  machine = await new Peer(cloud.target).signIn(cloud.partId, 'robot-secret', cloud.partSecret);
  owner = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  const { config } = await machine.call('platform.app.v1.RobotService', 'Config', { id: cloud.partId });
  host = (config as { cloud: { fqdn: string } }).cloud.fqdn;
});
afterAll(async () => {
  machine[Symbol.dispose]();
  owner[Symbol.dispose]();
  await cloud[Symbol.asyncDispose]();
});

interface Waiting {
  readonly stream: ClientDuplexStream<object, Answer>;
  /** Code and message with which it ended. */
  readonly ended: Promise<{ readonly code: number; readonly details: string }>;
  /** The first message. */
  readonly heard: Promise<Answer>;
}

function wait(peer: Peer, headers: Readonly<Record<string, string>>): Waiting {
  const stream = peer.converse(signaling, 'Answer', headers);
  const ended = new Promise<{ code: number; details: string }>((resolve) => stream.on('status', resolve));
  stream.on('error', () => {});
  const heard = new Promise<Answer>((resolve) => stream.on('data', resolve));
  return { stream, ended, heard };
}

/** A key of only the machine. */
async function keyOf(authorization_id: string): Promise<{ readonly id: string; readonly key: string }> {
  const role = { identity_type: 'api-key', authorization_type: 'role', authorization_id };
  const on = { resource_type: 'robot', resource_id: cloud.machineId };
  const made = await owner.call(app, 'CreateKey', { name: randomUUID(), authorizations: [{ ...role, ...on }] });
  return { id: String(made['id']), key: String(made['key']) };
}

const beating = () => ({ 'rpc-host': host, 'heartbeats-allowed': 'true' });

test('a caller that comes while the machine starts again is held, and gets the machine', async () => {
  const { key, id } = await keyOf('robot_operator');
  using caller = await new Peer(cloud.target).signIn(id, 'api-key', key);
  // The machine has just got its configuration, so it counts as online.
  expect(await caller.withHeader('rpc-host', host).call(signaling, 'OptionalWebRTCConfig', {})).toEqual({
    config: null,
  });
  const call = dial(caller, 'the offer');
  const waiting = wait(machine, { 'rpc-host': host });
  expect(await Promise.race([waiting.heard, call.ended])).toMatchObject({ stage: 'init', init: { sdp: 'the offer' } });
  waiting.stream.cancel();
  await call.ended;
});

test('a machine waits for callers and learns at once that its link works', async () => {
  const one = wait(machine, beating());
  expect(await Promise.race([one.heard, one.ended])).toMatchObject({ stage: 'heartbeat' });
  // Closing its own side ends the stream without an error.
  one.stream.end();
  expect(await one.ended).toMatchObject({ code: 0 });
});

test('if there are more streams than a machine needs, the oldest end and the newest stay', async () => {
  const all: Waiting[] = [];
  for (let count = 0; count < 5; count++) all.push(wait(machine, beating()));
  const [oldest, ...others] = all;
  expect(await oldest?.ended).toMatchObject({ code: 14, details: expect.stringContaining('4 streams') });
  for (const { heard, ended } of others)
    expect(await Promise.race([heard, ended])).toMatchObject({ stage: 'heartbeat' });
  for (const { stream } of others) stream.cancel();
});

test('only a machine itself, its own keys and its owners may answer on its behalf; a message sent too early is refused', async () => {
  const refusal = async (peer: Peer, headers: Readonly<Record<string, string>>): Promise<number> => {
    const { ended } = wait(peer, headers);
    return (await ended).code;
  };
  const role = { identity_type: 'api-key', authorization_type: 'role', authorization_id: 'organization_operator' };
  const on = { resource_type: 'organization', resource_id: cloud.organizationId };
  const made = await owner.call(app, 'CreateKey', { name: randomUUID(), authorizations: [{ ...role, ...on }] });
  using operator = await new Peer(cloud.target).signIn(String(made['id']), 'api-key', String(made['key']));
  expect(await refusal(operator, beating())).toBe(7);
  expect(await refusal(new Peer(cloud.target), beating())).toBe(16);
  expect(await refusal(machine, {})).toBe(3);
  expect(await refusal(machine, { 'rpc-host': host.replace(/^[^.]+/, randomUUID()) })).toBe(5);
  const early = wait(machine, beating());
  early.stream.write({ uuid: 'u' });
  expect(await early.ended).toMatchObject({ code: 9, details: expect.stringContaining('before a caller') });
});

test('R16 a stream ends when the right to it ends', async () => {
  const made = await keyOf('robot_operator');
  using key = await new Peer(cloud.target).signIn(made.id, 'api-key', made.key);
  const open = wait(key, beating());
  expect(await Promise.race([open.heard, open.ended])).toMatchObject({ stage: 'heartbeat' });
  await owner.call(app, 'DeleteKey', { id: made.id });
  expect(await open.ended).toMatchObject({ code: 16 });
});

/** A caller that shares no code with ours. */
function dial(
  peer: Peer,
  sdp: string,
): { readonly heard: Answer[]; readonly ended: Promise<{ code: number; details: string }> } {
  const heard: Answer[] = [];
  const stream = peer.withHeader('rpc-host', `${host}:8080`).stream(signaling, 'Call', { sdp });
  const ended = new Promise<{ code: number; details: string }>((resolve) => stream.on('status', resolve));
  stream.on('error', () => {}).on('data', (answer: Answer) => heard.push(answer));
  return { heard, ended };
}

test('a caller and a machine of the public API find each other: offer, answer, candidates of both, and the end', async () => {
  const { key, id } = await keyOf('robot_operator');
  using caller = await new Peer(cloud.target).signIn(id, 'api-key', key);
  const waiting = machine.converse(signaling, 'Answer', { 'rpc-host': host });
  const asked: Answer[] = [];
  const over = new Promise<{ code: number }>((resolve) => waiting.on('status', resolve));
  waiting.on('error', () => {}).on('data', (request: Answer) => asked.push(request));
  await expect
    .poll(() => caller.withHeader('rpc-host', host).call(signaling, 'OptionalWebRTCConfig', {}))
    .toEqual({ config: { additional_ice_servers: [], disable_trickle: false } });
  const call = dial(caller, 'the offer');
  await expect.poll(() => asked).toHaveLength(1);
  const [{ uuid, init } = {}] = asked as [{ uuid: string; init: Record<string, unknown> }];
  const named = { id: `api-key:${id}`, name: expect.any(String), access: 'CALLER_ACCESS_CONTROL' };
  expect(init).toMatchObject({ sdp: 'the offer', deadline: expect.anything(), caller: named });
  const { ticket } = (init?.['caller'] ?? {}) as { ticket?: Buffer };
  const check = { part_id: cloud.partId, tickets: [ticket] };
  expect(await machine.call(relay, 'CheckCallers', check)).toEqual({ access: ['CALLER_ACCESS_CONTROL'] });

  waiting.write({ uuid, init: { sdp: 'the answer' } });
  await expect.poll(() => call.heard).toMatchObject([{ uuid, stage: 'init', init: { sdp: 'the answer' } }]);
  const candidate = { candidate: 'of the caller', sdp_mid: '0' };
  await caller.call(signaling, 'CallUpdate', { uuid, candidate });
  await expect.poll(() => asked.at(1)).toMatchObject({ uuid, stage: 'update', update: { candidate } });
  waiting.write({ uuid, update: { candidate: { candidate: 'of the machine' } } });
  waiting.write({ uuid, done: {} });
  expect(await call.ended).toMatchObject({ code: 0 });
  const filled = { candidate: 'of the machine', sdp_mid: '', sdpm_line_index: 0, username_fragment: '' };
  expect(call.heard.at(1)).toMatchObject({ uuid, stage: 'update', update: { candidate: filled } });
  await caller.call(signaling, 'CallUpdate', { uuid, done: true });
  await expect.poll(() => asked.at(2)).toMatchObject({ uuid, stage: 'done' });
  expect(await over).toMatchObject({ code: 0 });
  const metadata = { reached_stage: 'DIAL_STAGE_READY', signaling_path: 'CONNECTION_SIGNALING_PATH_CLOUD_SIGNALED' };
  expect(await caller.call(signaling, 'ReportConnectionMetadata', metadata)).toEqual({});

  await owner.call(app, 'DeleteKey', { id });
  expect(await machine.call(relay, 'CheckCallers', check)).toEqual({ access: ['CALLER_ACCESS_UNSPECIFIED'] });
});

test('a machine that fails tells its caller; a key without the right to the machine reaches nobody', async () => {
  using stranger = await new Peer(cloud.target).signIn(cloud.partId, 'robot-secret', cloud.partSecret);
  expect(await dial(stranger, 'offer').ended).toMatchObject({ code: 7 });
  const waiting = machine.converse(signaling, 'Answer', { 'rpc-host': host });
  waiting
    .on('error', () => {})
    .on('data', ({ uuid }: Answer) => {
      waiting.write({ uuid, error: { status: { code: 2, message: 'no engine' } } });
    });
  const { key, id } = await keyOf('robot_owner');
  using caller = await new Peer(cloud.target).signIn(id, 'api-key', key);
  expect(await dial(caller, 'offer').ended).toMatchObject({ code: 14, details: 'error from answerer: no engine' });
});

test('D40 calls that a machine reports are in the audit trail once', async () => {
  const id = randomUUID();
  const calls = [
    {
      id,
      caller: 'person:p',
      operation: 'MotorService.SetPower',
      resource: 'left',
      count: 5,
      path: 'CALLER_PATH_WEBRTC',
    },
  ];
  for (let time = 0; time < 2; time++) await machine.call(relay, 'ReportCalls', { part_id: cloud.partId, calls });
  const { entries } = await owner.call('platform.fleet.v1.FleetService', 'ListAuditEntries', {
    ...{ organization_id: cloud.organizationId, target_id: cloud.partId },
  });
  const reported = (entries as Answer[]).filter(({ action }) => action === 'MotorService.SetPower');
  expect(reported.map(({ detail }) => JSON.parse(String(detail)))).toEqual([
    { resource: 'left', count: 5, path: 'webrtc', reported_by: 'machine' },
  ]);
});
