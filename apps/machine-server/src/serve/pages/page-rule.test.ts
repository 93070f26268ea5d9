import { type OutgoingHttpHeaders, request } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type ProcessStart, readProcess } from '../../modules/process/read-process.ts';
import { createLocalHome, type LocalHome, startLocalServer, states } from '../../testing/local-machine.ts';
import { until } from '../../testing/start-test-server.ts';

const fake = (name: string) => ({ name, api: 'core:component:sensor', model: 'core:builtin:fake' });
const version = '/platform.robot.v1.RobotService/GetVersion';
const computer = hostname().split('.', 1)[0] ?? '';

interface Answer {
  readonly status: number | undefined;
  readonly allowed: string | undefined;
  readonly vary: string | undefined;
  readonly body: string;
}

function ask(port: number, method: string, path: string, headers: OutgoingHttpHeaders): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      const { 'access-control-allow-origin': allowed, vary } = response.headers;
      resolve({ status: response.statusCode, allowed, vary, body: Buffer.concat(pieces).toString() });
    });
    asked.on('error', reject);
    asked.end(method === 'POST' ? '{}' : undefined);
  });
}

const call = (port: number, headers: OutgoingHttpHeaders): Promise<Answer> =>
  ask(port, 'POST', version, { 'content-type': 'application/json', ...headers });

/** Whose connections the port for modules serves. */
async function ownProcess(): Promise<ProcessStart> {
  const own = await readProcess(process.pid);
  if (own === undefined) throw new Error('expected a system that tells about its processes');
  return own;
}

async function start(document: object): Promise<{ port: number; parent: number }> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const home = stack.use(await createLocalHome(document));
  const server = stack.use(await startLocalServer(home));
  const opened = stack.use(await server.serving.openParent('acme', join(home.path, 'parent.sock')));
  return { port: server.serving.port, parent: Number((await opened.tcpAddress(await ownProcess())).split(':')[1]) };
}

test('D50 an open machine and the port for its modules refuse pages of others, and names that are not theirs', async () => {
  const network = { allowed_hosts: ['robot.lan'], allowed_origins: ['https://panel.example'] };
  const ports = await start({ components: [fake('a')], network });
  for (const port of [ports.port, ports.parent]) {
    const own = `127.0.0.1:${port}`;
    for (const host of [own, `localhost:${port}`, `[::1]:${port}`, computer, `${computer}.local.`, 'robot.lan:80'])
      expect([host, (await ask(port, 'GET', '/platform/api/v1/version', { host })).status]).toEqual([host, 200]);
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.evil.example']) {
      const refused = await ask(port, 'GET', '/platform/api/v1/version', { host });
      expect([host, refused.status]).toEqual([host, 403]);
      expect(refused.body).toContain('network.allowed_hosts');
      expect((await ask(port, 'GET', '/', { host })).status).toBe(403);
      // After DNS rebinding, the page and the machine have the same name.
      expect((await call(port, { host, origin: `http://${host}` })).status).toBe(403);
      expect((await call(port, { host, 'sec-fetch-site': 'same-origin' })).status).toBe(403);
    }
    for (const origin of [
      'http://localhost:5173',
      'https://127.0.0.1',
      'http://[::1]:3000',
      `http://${computer}.local:81`,
      'https://panel.example',
    ]) {
      const asked = { host: own, origin };
      expect([origin, await call(port, asked)]).toMatchObject([
        origin,
        { status: 200, allowed: origin, vary: 'origin' },
      ]);
      const preflight = await ask(port, 'OPTIONS', version, { ...asked, 'access-control-request-method': 'POST' });
      expect(preflight).toMatchObject({ status: 204, allowed: origin, vary: 'origin' });
    }
    for (const origin of [
      'null',
      'https://evil.example',
      'http://panel.example',
      'http://localhost.evil.example',
      'http://192.0.2.7',
      'http://robot.lan',
      'ftp://localhost',
      'http://localhost@evil.example',
    ]) {
      const asked = { host: own, origin };
      expect([origin, await call(port, asked)]).toMatchObject([origin, { status: 403, allowed: undefined }]);
      const preflight = await ask(port, 'OPTIONS', version, { ...asked, 'access-control-request-method': 'POST' });
      expect(preflight).toMatchObject({ status: 403, allowed: undefined });
      expect(await ask(port, 'GET', '/platform/api/v1/version', asked)).toMatchObject({ status: 403 });
    }
    await using link = connect({ baseUrl: `http://${own}` });
    expect((await link.client(RobotService).getVersion({})).platform).not.toBe('');
  }
});

test('D50 with keys every origin may call, as SDKs in browsers do; the port for modules stays closed to pages', async () => {
  const auth = { handlers: [{ type: 'api-key', config: { id: 'key-value' } }] };
  const { port, parent } = await start({ components: [fake('a')], auth });
  const asked = { host: 'robot.example', origin: 'https://app.example' };
  expect(await call(port, asked)).toMatchObject({ status: 401, allowed: '*' });
  const preflight = await ask(port, 'OPTIONS', version, { ...asked, 'access-control-request-method': 'POST' });
  expect(preflight).toMatchObject({ status: 204, allowed: '*' });
  expect(await call(parent, asked)).toMatchObject({ status: 403, allowed: undefined });
});

/** Whether the machine accepts this key, and whether it accepts callers without any. */
async function accepts(port: number, key: string): Promise<readonly [boolean, boolean]> {
  const credentials = { entity: 'id', type: 'api-key', payload: key };
  const baseUrl = `http://127.0.0.1:${port}`;
  await using withKey = connect({ baseUrl, credentials });
  await using without = connect({ baseUrl });
  const may = (link: ReturnType<typeof connect>): Promise<boolean> =>
    link
      .client(RobotService)
      .getVersion({})
      .then(
        () => true,
        () => false,
      );
  return [await may(withKey), await may(without)];
}

const handlers = (...keys: readonly string[]) => ({
  handlers: keys.map((key) => ({ type: 'api-key', config: { id: key } })),
});
const keyed = (auth?: unknown, ...names: readonly string[]) => ({ components: names.map(fake), auth });
const everywhere = { args: ['-no-tls'], env: { PLATFORM_BIND_ADDRESS: '0.0.0.0:0' } };

test('D50 a machine that others reach answers nobody once an edit leaves no keys; the rest of the edit runs, the status says why', async () => {
  await using home = await createLocalHome(keyed(handlers('first'), 'a'));
  await using server = await startLocalServer(home, everywhere);
  const { port } = server.serving;
  expect(await accepts(port, 'first')).toEqual([true, false]);
  const without: readonly unknown[] = [
    undefined,
    {},
    handlers(),
    { handlrs: handlers('first').handlers },
    { handlers: [{ type: 'api-kye', config: { id: 'first' } }] },
  ];
  for (const [index, auth] of without.entries()) {
    await home.write(keyed(auth, `without-${index}`));
    await until('the rest of the edit', () => states(server) === `without-${index} ready`);
    expect([index, await accepts(port, 'first')]).toEqual([index, [false, false]]);
    await home.logged('ERROR config expected keys in auth.handlers');
    await home.write(keyed(handlers('second'), `with-${index}`));
    await until('keys again', () => states(server) === `with-${index} ready`);
    expect([await accepts(port, 'second'), await accepts(port, 'first')]).toEqual([
      [true, false],
      [false, false],
    ]);
  }
  expect(home.log()).toContain('found "api-kye"');
});

/** The configuration error in the status, for a caller with this key. */
async function errorFor(port: number, key: string): Promise<string> {
  const credentials = { entity: 'id', type: 'api-key', payload: key };
  await using link = connect({ baseUrl: `http://127.0.0.1:${port}`, credentials });
  return (await link.client(RobotService).getMachineStatus({})).configError;
}

const unreadable: readonly unknown[] = ['open', { handlers: 'none' }];

test('D50 until a file without errors has run, an auth that cannot be read keeps the keys of before, and is an error in the status', async () => {
  await using home = await createLocalHome({ ...keyed(handlers('first'), 'a'), services: [{ name: 'wrong' }] });
  await using server = await startLocalServer(home, everywhere);
  const { port } = server.serving;
  expect(await accepts(port, 'first')).toEqual([true, false]);
  expect(await errorFor(port, 'first')).not.toContain('auth');
  for (const [index, auth] of unreadable.entries()) {
    await home.write(keyed(auth, `b-${index}`));
    await until('the rest of the edit', () => states(server) === `b-${index} ready`);
    expect(await accepts(port, 'first')).toEqual([true, false]);
    await wrote(home, /machine.json has errors: auth/);
    expect(await errorFor(port, 'first')).toMatch(/machine.json has errors: auth.*; running without what has errors/);
  }
});

test('D50 after a file without errors has run, an auth that cannot be read keeps the keys until the next readable edit, as an error in the status', async () => {
  await using home = await createLocalHome(keyed(handlers('first'), 'a'));
  await using server = await startLocalServer(home, everywhere);
  const { port } = server.serving;
  expect(await errorFor(port, 'first')).toBe('');
  for (const [index, auth] of unreadable.entries()) {
    const [before, next] = index === 0 ? ['first', 'second'] : ['second', 'third'];
    await home.write(keyed(auth, 'b'));
    await until('the error', async () => (await errorFor(port, before)) !== '');
    expect(await errorFor(port, before)).toMatch(
      /machine.json has errors: auth.*; the running configuration stays in use/,
    );
    expect(await accepts(port, before)).toEqual([true, false]);
    await home.write(keyed(handlers(next), `c-${index}`));
    await until('the next edit', () => states(server) === `c-${index} ready`);
    expect([await accepts(port, next), await accepts(port, before)]).toEqual([
      [true, false],
      [false, false],
    ]);
    expect(await errorFor(port, next)).toBe('');
  }
});

const wrote = (home: LocalHome, what: RegExp): Promise<void> => until(String(what), () => what.test(home.log()));
