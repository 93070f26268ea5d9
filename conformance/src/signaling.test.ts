/** Machines that wait for callers, like public machine-servers: two streams each, which stay open until their link or their right ends. */
import { randomUUID } from 'node:crypto';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, Peer } from './clients/grpc-peer.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

const app = 'platform.app.v1.AppService';
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
  const stream = peer.converse('proto.rpc.webrtc.v1.SignalingService', 'Answer', headers);
  const ended = new Promise<{ code: number; details: string }>((resolve) => stream.on('status', resolve));
  stream.on('error', () => {});
  const heard = new Promise<Answer>((resolve) => stream.on('data', resolve));
  return { stream, ended, heard };
}

const beating = () => ({ 'rpc-host': host, 'heartbeats-allowed': 'true' });

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
  const role = { identity_type: 'api-key', authorization_type: 'role', authorization_id: 'robot_operator' };
  const on = { resource_type: 'robot', resource_id: cloud.machineId };
  const made = await owner.call(app, 'CreateKey', { name: randomUUID(), authorizations: [{ ...role, ...on }] });
  using key = await new Peer(cloud.target).signIn(String(made['id']), 'api-key', String(made['key']));
  const open = wait(key, beating());
  expect(await Promise.race([open.heard, open.ended])).toMatchObject({ stage: 'heartbeat' });
  await owner.call(app, 'DeleteKey', { id: made['id'] });
  expect(await open.ended).toMatchObject({ code: 16 });
});
