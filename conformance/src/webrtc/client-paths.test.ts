/** The SDK reaches a real machine through the relay and over WebRTC, and goes on when a path is lost (D40). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newId } from '@platform/base';
import { openCloud } from '@platform/sdk/cloud';
import {
  board,
  type ConnectMachineOptions,
  connectMachine,
  moduleMethods,
  motor,
  resumeStream,
} from '@platform/sdk/machine';
import { processTree, spawnChild } from '@platform/testkit';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from '../open-browser.ts';
import { type ConnectedMachine, startConnectedMachine } from './start-chromium-machine.ts';

/** Of the machine itself. */
const ownKey = { keyId: 'beside-it', key: 'secret-of-the-machine' };

let connected: ConnectedMachine;

beforeAll(async () => {
  const config = { [ownKey.keyId]: ownKey.key };
  connected = await startConnectedMachine({ auth: { handlers: [{ type: 'api-key', config }] } });
});
afterAll(() => connected?.[Symbol.asyncDispose]());

function options(more: Partial<ConnectMachineOptions> = {}): ConnectMachineOptions {
  const { cloud, host } = connected;
  return { address: host, cloud: cloud.url, keyId: cloud.keyId, key: cloud.key, ...more };
}

function open(more: Partial<ConnectMachineOptions> = {}) {
  const machine = connectMachine(options(more));
  onTestFinished(() => machine[Symbol.asyncDispose]());
  return machine;
}

/** The SDK for browsers as a script that defines `sdk`. */
async function sdkScript(): Promise<string> {
  await using bundle = await rolldown({
    input: fileURLToPath(import.meta.resolve('@platform/sdk/machine-browser')),
    platform: 'browser',
    resolve: { conditionNames: ['@platform/source', 'browser', 'default'] },
  });
  return (await bundle.generate({ format: 'iife', name: 'sdk' })).output[0].code;
}

/** Kills the process of the machine's WebRTC engine, and waits for its end. */
async function killEngine(): Promise<void> {
  const isEngine = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('webrtc-engine');
    } catch {
      return false;
    }
  };
  const [engine] = processTree(connected.machine.pid).filter(isEngine);
  if (engine === undefined) throw new Error('expected a process of the engine below the machine-server, found none');
  process.kill(engine, 'SIGKILL');
  await expect.poll(() => isEngine(engine)).toBe(false);
}

test('D40 calls go through the relay at once, then over WebRTC; a dead engine costs no motion, session or stream', async () => {
  const machine = open();
  const paths: (string | undefined)[] = [];
  machine.onPath(({ path }) => paths.push(path));
  expect((await machine.resourceNames()).length).toBeGreaterThan(20);
  expect(paths).toEqual(['relay']);
  // The machine itself is asked what it serves, not the cloud.
  expect(await moduleMethods(machine)).toEqual([]);
  await expect.poll(() => machine.path).toBe('webrtc');
  expect(machine.latencyMs).toBeGreaterThan(0);

  const it = machine.resource(motor, 'it');
  await it.setPower({ powerPct: 0.5 });
  const pins = machine.resource(board, 'it');
  const ticks: number[] = [];
  const lost: string[] = [];
  const leave = new AbortController();
  const reading = (async () => {
    const open = (call: { readonly signal?: AbortSignal }) => pins.streamTicks({ pinNames: ['door'] }, call);
    const stream = resumeStream(open, { signal: leave.signal, onLost: ({ code }) => lost.push(code) });
    for await (const { high } of stream) ticks.push(Number(high));
  })().catch((caught: unknown) => caught);
  let isHigh = false;
  const tick = async (): Promise<number> => {
    isHigh = !isHigh;
    await pins.setGPIO({ pin: '11', high: isHigh });
    return ticks.length;
  };
  await expect.poll(tick).toBeGreaterThan(0);
  const { sessions } = await machine.robot.getSessions({});
  expect(sessions).toHaveLength(1);

  await killEngine();
  await expect.poll(() => paths.at(-1)).toBe('relay');
  expect(await it.isPowered({})).toMatchObject({ isOn: true, powerPct: 0.5 });
  await expect.poll(() => lost).toEqual(['unavailable']);
  const before = ticks.length;
  await expect.poll(tick).toBeGreaterThan(before);
  const pathAfterCall = async (): Promise<string | undefined> => {
    await it.isPowered({});
    return machine.path;
  };
  await expect.poll(pathAfterCall).toBe('webrtc');
  expect(paths).toEqual(['relay', 'webrtc', 'relay', 'webrtc']);
  expect(await it.isPowered({})).toMatchObject({ isOn: true, powerPct: 0.5 });
  expect((await machine.robot.getSessions({})).sessions.map(({ id }) => id)).toEqual(sessions.map(({ id }) => id));
  leave.abort();
  await reading;
});

test('a machine of an open cloud uses WebRTC if it is asked to, and only then', async () => {
  const { url, keyId, key, partId } = connected.cloud;
  await using cloud = openCloud({ url, keyId, key });
  const [usual, best] = [cloud.machine(partId), cloud.machine(partId, { path: 'auto' })];
  await Promise.all([usual.resourceNames(), best.resourceNames()]);
  expect([usual.path, best.path]).toEqual(['relay', 'relay']);
  await expect.poll(() => best.path).toBe('webrtc');
  await usual.resourceNames();
  expect(usual.path).toBe('relay');
  await expect(cloud.machine(newId(), { path: 'webrtc' }).resourceNames()).rejects.toThrow(/^over WebRTC: /);
});

test('what a killed program moved over WebRTC stops', async () => {
  const script = fileURLToPath(new URL('./testing/moving-client.ts', import.meta.url));
  const argument = JSON.stringify(options({ path: 'webrtc' }));
  await using client = spawnChild(process.execPath, [...process.execArgv, script, argument, 'it']);
  expect(await client.waitForLine(({ event }) => event === 'moving')).toMatchObject({ path: 'webrtc' });
  await using watcher = open({ path: 'relay', session: false });
  const it = watcher.resource(motor, 'it');
  expect(await it.isPowered({})).toMatchObject({ isOn: true });
  await client.kill('SIGKILL');
  await expect.poll(async () => (await it.isPowered({})).isOn).toBe(false);
  expect(watcher.path).toBe('relay');
});

test('a page reaches the machine through the relay and over WebRTC, and what it moved stops when it is closed', async () => {
  await using browser = await openBrowser();
  const { page } = browser;
  await page.addScriptTag({ content: await sdkScript() });
  const inPage = (body: string): Promise<unknown> => page.evaluate(`(async () => { ${body} })()`);
  await inPage(`
    window.machine = sdk.connectMachine(${JSON.stringify(options())});
    window.paths = [];
    machine.onPath(({ path }) => paths.push(path));
    await machine.resourceNames();
  `);
  await expect.poll(() => inPage('await machine.robot.getVersion({}); return paths;')).toEqual(['relay', 'webrtc']);
  const it = `machine.resource(sdk.motor, 'it')`;
  await inPage(`await ${it}.setPower({ powerPct: 0.5 });`);
  expect(await inPage(`return { on: (await ${it}.isPowered({})).isOn };`)).toEqual({ on: true });
  expect(await inPage(`return machine.resource(sdk.sensor, 'it').readings({});`)).toEqual({ celsius: 21.5 });
  const refused = `machine.resource(sdk.sensor, 'none').readings({}).catch(({ name, code }) => ({ name, code }))`;
  expect(await inPage(`return ${refused};`)).toEqual({ name: 'PlatformError', code: 'not_found' });
  const byRelay = `sdk.connectMachine({ ...${JSON.stringify(options())}, path: 'relay' }).resource(sdk.sensor, 'it')`;
  expect(await inPage(`return ${byRelay}.readings({});`)).toEqual({ celsius: 21.5 });
  await page.close();
  const watcher = open({ path: 'relay', session: false }).resource(motor, 'it');
  await expect.poll(async () => (await watcher.isPowered({})).isOn).toBe(false);
});

test('a key that reaches nothing is refused by each path, in the words of the cloud', async () => {
  const wrong = { keyId: connected.cloud.keyId, key: 'wrong' };
  await expect(open({ ...wrong }).resourceNames()).rejects.toMatchObject({ code: 'permission_denied' });
  const machine = open({ ...wrong, path: 'webrtc' });
  await expect(machine.resourceNames()).rejects.toMatchObject({
    code: 'permission_denied',
    message: expect.stringMatching(/^over WebRTC: /),
  });
  expect(machine.path).toBeUndefined();
});

test('the machine is called directly at its own address', async () => {
  const address = connected.machine.logged().match(/"port":(\d+)/)?.[1];
  const machine = connectMachine({ address: `127.0.0.1:${address}`, ...ownKey });
  onTestFinished(() => machine[Symbol.asyncDispose]());
  expect((await machine.resourceNames()).length).toBeGreaterThan(20);
  expect(machine.path).toBe('direct');
  expect(() => connectMachine({ address: '127.0.0.1:1', path: 'relay' })).toThrow('path: expected "direct"');
});
