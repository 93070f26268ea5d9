/** A machine that has another machine of its cloud as a remote: calls, streams, deaths on either side. */
import { fileURLToPath } from 'node:url';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { board, type Machine, motor, sensor } from '@platform/sdk/machine';
import { spawnChild } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type MachineProcess, startMachine } from './start-machine.ts';

interface Part {
  readonly partId: string;
  readonly partSecret: string;
  readonly fqdn: string;
}

const allReady = ['b:it ready', 'b:pins ready', 'b:probe ready'];

let cloud: CloudProcess;
let client: Cloud;
let partA: Part;
let partB: Part;
/** Has B as its remote. */
let machineA: MachineProcess;
let machineB: MachineProcess;
/** Called through the relay, without sessions. */
let viaA: Machine;
let viaB: Machine;

const probe = {
  ...{ name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake' },
  attributes: { readings: { celsius: 7 } },
};
const own = { ...probe, name: 'own' };
const fakes = [
  { name: 'it', api: 'core:component:motor', model: 'core:builtin:fake' },
  probe,
  {
    ...{ name: 'pins', api: 'core:component:board', model: 'core:builtin:fake' },
    attributes: { digital_interrupts: [{ name: 'door', pin: '11' }] },
  },
];

/** The configuration of A. @param more for the remote */
function withRemote(more: object = {}): object {
  const { keyId: entity, key: payload } = cloud;
  const auth = { entity, credentials: { type: 'api-key', payload } };
  return { remotes: [{ name: 'b', address: partB.fqdn, auth, connection_check_interval: '1s', ...more }] };
}

async function configure({ partId }: Part, document: object): Promise<void> {
  const { part } = await client.app.getRobotPart({ id: partId });
  const robotConfigJson = JSON.stringify(document);
  await client.app.updateRobotPart({ id: partId, name: part?.name ?? '', robotConfigJson });
}

async function newPart(name: string): Promise<Part> {
  const { locations } = await client.app.listLocations({ organizationId: cloud.organizationId });
  const { id } = await client.app.newRobot({ location: locations[0]?.id ?? '', name });
  const { parts } = await client.app.getRobotParts({ robotId: id });
  const [{ id: partId, secret: partSecret, fqdn } = { id: '', secret: '', fqdn: '' }] = parts;
  return { partId, partSecret, fqdn };
}

/** `name state` of each resource of A, with the reason if it is not ready. */
async function statesOfA(): Promise<string[]> {
  const { resources } = await viaA.robot.getMachineStatus({});
  return resources.map(({ name, state, error }) => `${name?.name} ${state === 3 ? 'ready' : error}`).toSorted();
}

beforeAll(async () => {
  cloud = await startCloud();
  const { url, keyId, key } = cloud;
  client = openCloud({ url, keyId, key });
  [partA, partB] = [await newPart('a'), await newPart('b')];
  await configure(partB, { components: fakes });
  await configure(partA, withRemote());
  [machineA, machineB] = await Promise.all([startMachine(partA, url), startMachine(partB, url)]);
  const options = { session: false, path: 'relay' } as const;
  [viaA, viaB] = [client.machine(partA.partId, options), client.machine(partB.partId, options)];
});
afterAll(async () => {
  for (const each of [viaA, viaB, machineA, machineB, client, cloud]) await each?.[Symbol.asyncDispose]();
});

test('resources of a remote are read, moved and streamed as own ones, over WebRTC once it is there', async () => {
  await expect.poll(() => statesOfA().catch(String)).toEqual(allReady);
  expect(await viaA.resource(sensor, 'b:probe').readings({})).toEqual({ celsius: 7 });
  expect(await viaA.resource(sensor, 'probe').readings({})).toEqual({ celsius: 7 });
  const it = viaA.resource(motor, 'b:it');
  await it.setPower({ powerPct: 0.25 });
  expect(await viaB.resource(motor, 'it').isPowered({})).toMatchObject({ isOn: true, powerPct: 0.25 });
  await viaA.robot.stopAll({});
  expect(await viaB.resource(motor, 'it').isPowered({})).toMatchObject({ isOn: false });

  const leave = new AbortController();
  const ticks: string[] = [];
  const reading = (async () => {
    const stream = viaA.resource(board, 'b:pins').streamTicks({ pinNames: ['door'] }, { signal: leave.signal });
    for await (const { pinName } of stream) ticks.push(pinName);
  })().catch(() => {});
  let isHigh = false;
  const tick = async (): Promise<number> => {
    isHigh = !isHigh;
    await viaA.resource(board, 'b:pins').setGPIO({ pin: '11', high: isHigh });
    return ticks.length;
  };
  await expect.poll(tick).toBeGreaterThan(1);
  leave.abort();
  await reading;
  await expect.poll(() => machineA.logged()).toContain('is called by the path webrtc');
  const { resources } = await viaA.robot.getMachineStatus({});
  const ids = resources.map(({ remote, reachability, cloudMetadata }) => [
    remote,
    reachability,
    cloudMetadata?.machinePartId,
  ]);
  expect(ids).toEqual(Array.from({ length: 3 }, () => ['b', 1, partB.partId]));
});

/** A program that moves the motor through A, with a session. */
async function startMover() {
  const script = fileURLToPath(new URL('../webrtc/testing/moving-client.ts', import.meta.url));
  const { url, keyId, key } = cloud;
  const argument = JSON.stringify({ address: partA.fqdn, cloud: url, keyId, key });
  const mover = spawnChild(process.execPath, [...process.execArgv, script, argument, 'b:it']);
  await mover.waitForLine(({ event }) => event === 'moving');
  expect(await viaB.resource(motor, 'it').isPowered({})).toMatchObject({ isOn: true });
  return mover;
}

const isOn = async (): Promise<boolean> => (await viaB.resource(motor, 'it').isPowered({})).isOn;

test('what a killed program moved on a remote stops', async () => {
  await using mover = await startMover();
  await mover.kill('SIGKILL');
  await expect.poll(isOn).toBe(false);
});

test('a machine that is killed moves nothing on its remote any longer', async () => {
  await using _mover = await startMover();
  await machineA.kill('SIGKILL');
  await expect.poll(isOn).toBe(false);
  await machineA[Symbol.asyncDispose]();
  machineA = await startMachine(partA, cloud.url);
  await expect.poll(() => statesOfA().catch(() => [])).toEqual(allReady);
});

test('a remote that dies is away with a reason, and comes back with its resources', async () => {
  await machineB.kill('SIGKILL');
  const reason = `the remote "b" (${partB.fqdn}, by the path `;
  await expect
    .poll(statesOfA)
    .toEqual(['b:it', 'b:pins', 'b:probe'].map((name) => expect.stringContaining(`${name} ${reason}`)));
  await expect(viaA.resource(motor, 'b:it').isPowered({})).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(reason),
  });
  await machineB[Symbol.asyncDispose]();
  machineB = await startMachine(partB, cloud.url);
  await expect.poll(statesOfA).toEqual(allReady);
  await viaA.resource(motor, 'b:it').setPower({ powerPct: 0.5 });
  await viaA.resource(motor, 'b:it').stop({});
});

test('remotes of each other list each resource once; an edit renames and removes them; the key is in no log', async () => {
  const { keyId: entity, key: payload } = cloud;
  const auth = { entity, credentials: { type: 'api-key', payload } };
  const remotes = [{ name: 'a', address: partA.fqdn, auth, connection_check_interval: '1s' }];
  await configure(partB, { components: fakes, remotes });
  await configure(partA, { components: [own], ...withRemote({ prefix: 'far-' }) });
  const namesOf = async (machine: Machine): Promise<string[]> =>
    (await machine.robot.resourceNames({})).resources.map(({ name }) => name).toSorted();
  await expect.poll(() => namesOf(viaB)).toEqual(['a:own', 'it', 'pins', 'probe']);
  await expect.poll(() => namesOf(viaA)).toEqual(['b:far-it', 'b:far-pins', 'b:far-probe', 'own']);
  expect(await viaB.resource(sensor, 'a:own').readings({})).toEqual({ celsius: 7 });
  await configure(partA, { components: [own] });
  await expect.poll(() => namesOf(viaA)).toEqual(['own']);
  expect(machineA.logged() + machineB.logged()).not.toContain(payload);
});

test('a remote is reached at its own address, too', async () => {
  const port = (): string | undefined => machineB.logged().match(/"port":(\d+)/)?.[1];
  await expect.poll(port).toBeDefined();
  const [entity, payload] = ['beside-it', 'secret-of-the-machine'];
  const handlers = [{ type: 'api-key', config: { [entity]: payload } }];
  await configure(partB, { components: fakes, auth: { handlers } });
  const auth = { entity, credentials: { type: 'api-key', payload } };
  await configure(partA, { remotes: [{ name: 'near', address: `127.0.0.1:${port()}`, auth }] });
  const read = async (): Promise<unknown> => {
    try {
      return await viaA.resource(sensor, 'near:probe').readings({});
    } catch (caught) {
      return String(caught);
    }
  };
  await expect.poll(read).toEqual({ celsius: 7 });
});
