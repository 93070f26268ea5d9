import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog, type Log, PlatformError, silentLog } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { callerFields, type Principal } from '../access/principal.ts';
import { lookOfUi } from './look.ts';
import { createRoutes } from './routes.ts';
import type { SignIn } from './sign-in/sign-in.ts';
import { createUnknownAddress } from './unknown-address.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Starts only the routes. Returns a function that requests exactly the given path. */
async function startRoutes(
  principal?: Principal,
  log: Log = silentLog,
  admitStranger: () => void = () => {},
  handle: SignIn['handle'] = async () => false,
): Promise<(path: string, headers?: Record<string, string>) => Promise<Answer>> {
  const routes = createRoutes({
    signIn: {
      handle,
      principalOf: async () => principal,
      hasCookie: () => principal !== undefined,
      guesserOf: () => '127.0.0.1:1',
      mayAskAgain: () => false,
    },
    access: { ownsAll: () => false },
    webUi: undefined,
    command: 'node tools/run.js',
    admitStranger,
    async principalOf({ headers }) {
      if (headers['authorization'] !== 'Bearer right') throw new PlatformError('unauthenticated', 'another token');
      return { kind: 'key', keyId: 'k', keyName: '', grants: [] };
    },
    log,
    loopbackOnly: true,
    namedHosts: ['cloud.example'],
    unknownAddress: createUnknownAddress(log, 'https://cloud.example'),
    publicUrl: 'https://cloud.example',
    scheme: 'http',
    async partConfig({ partId, keyId, key, baseUrl }) {
      if (keyId !== 'id' || key !== 'right') throw new PlatformError('unauthenticated', 'another key');
      return { part: partId, baseUrl };
    },
    status: async (caller) => ({ for: callerFields(caller) }),
    openApi: async () => ({}),
    metrics: async () => {},
    routes: [],
    readRoutes: [],
  });
  const server = createServer(routes);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return (path, headers = {}) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
        response.setEncoding('utf8');
        let body = '';
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      sent.on('error', reject);
      sent.end();
    });
}

const key = { key_id: 'id', key: 'right', host: 'localhost:8080' };

test('D32 the configuration names the address to which the client connected, whatever the path contains', async () => {
  const ask = await startRoutes();
  expect(JSON.parse((await ask('/api/json1/config?id=p', key)).body)).toEqual({
    part: 'p',
    baseUrl: 'http://localhost:8080',
  });
  expect((await ask('http://elsewhere/api/json1/config?id=p', key)).body).toContain('http://localhost:8080');
  expect((await ask('/api/json1/config?id=p', { ...key, key: 'wrong' })).status).toBe(401);
});

test('D32 behind a proxy that ends TLS, the configuration names the public address', async () => {
  const ask = await startRoutes();
  const baseUrl = async (host: string): Promise<string> =>
    JSON.parse((await ask('/api/json1/config?id=p', { ...key, host })).body).baseUrl;
  expect(await baseUrl('cloud.example')).toBe('https://cloud.example');
  expect(await baseUrl('cloud.example:8080')).toBe('http://cloud.example:8080');
});

test('D49 whoever opens a cloud on loopback through a proxy that it does not know is told what to set, and so is the log, once', async () => {
  const told: string[] = [];
  const ask = await startRoutes(
    undefined,
    createLog((_level, _logger, message) => told.push(message)),
  );
  const advice =
    'if https://fleet.example is the address of this cloud, behind a proxy, start the cloud with PLATFORM_PUBLIC_URL=https://fleet.example (it is https://cloud.example)';
  for (let each = 0; each < 2; each++)
    expect((await ask('/', { host: 'fleet.example' })).body).toContain(
      `open https://cloud.example instead, or ${advice}`,
    );
  expect(told).toEqual([`a browser was refused: ${advice}`]);
  for (let each = 0; each < 20; each++) await ask('/', { host: `${each}.example` });
  expect(told).toHaveLength(10);
});

test.each(['//', '//elsewhere/api/json1/config', '/nothing', '/..'])('%s is not an internal fault', async (path) => {
  const ask = await startRoutes();
  expect([400, 401, 404]).toContain((await ask(path, key)).status);
});

test('D49 a path that no row of the table of doors names reaches no route', async () => {
  const asked: string[] = [];
  const ask = await startRoutes(undefined, silentLog, undefined, async (_request, response, { pathname }) => {
    asked.push(pathname);
    response.end('a route');
    return true;
  });
  expect(await ask('/account')).toMatchObject({ body: 'a route' });
  for (const path of ['/account/none', '/uploads/part', '/open', '/_app', '/healthz/', '/connect/a/b/c'])
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
  expect(asked).toEqual(['/account']);
});

test('a host that is neither a loopback name nor a configured one is refused, and nothing is shown without a session', async () => {
  const ask = await startRoutes();
  expect((await ask('/', { host: 'evil.example' })).status).toBe(403);
  expect((await ask('/', { host: 'cloud.example.evil.example:8080' })).status).toBe(403);
  expect((await ask('/', { host: 'Cloud.Example:8080' })).status).toBe((await ask('/', { host: 'localhost' })).status);
  expect((await ask('/api/status')).status).toBe(401);
  expect((await ask('/')).status).toBe(401);
});

test('an address whose calls held the loop is refused, whatever headers it adds, except with valid credentials', async () => {
  const ask = await startRoutes(undefined, silentLog, () => {
    throw new PlatformError('resource_exhausted', 'calls of address 127.0.0.1 are refused');
  });
  for (const headers of [{}, { authorization: 'x' }, { cookie: 'x' }, { key_id: 'x' }, { part_id: 'x' }])
    expect(await ask('/healthz', headers as Record<string, string>)).toMatchObject({
      status: 429,
      body: expect.stringContaining('calls of address 127.0.0.1 are refused'),
    });
  expect((await ask('/healthz', { authorization: 'Bearer right' })).status).toBe(200);
});

test('the status page is for everyone with a role; others learn that they have none', async () => {
  const grant = { role: 'operator', organizationId: 'acme', locationId: 'hall', robotId: null } as const;
  const person = (grants: readonly (typeof grant)[]): Principal => ({ kind: 'key', keyId: 'k', keyName: '', grants });
  const ask = await startRoutes(person([grant]));
  expect((await ask('/')).body).toContain('id="figures"');
  expect(JSON.parse((await ask('/api/status')).body)).toEqual({ for: { keyId: 'k', organizations: ['acme'] } });
  const askAsGuest = await startRoutes(person([]));
  const refused = await askAsGuest('/api/status');
  expect(refused.status).toBe(403);
  expect(refused.body).toContain('you have no role in any organization');
});

test('a person who opens an address at which nothing is gets a page that says so and leads on; a program gets the error', async () => {
  const ask = await startRoutes();
  const page = await ask('/nowhere<b>', { accept: 'text/html,*/*' });
  expect(page.status).toBe(404);
  expect(page.body).toContain('<h1>There is nothing at this address</h1>');
  expect(page.body).toContain('<a class="button" href="/">Your machines</a>');
  expect(page.body).not.toContain('<b>');
  const error = await ask('/nowhere', { accept: '*/*' });
  expect(JSON.parse(error.body)).toMatchObject({ code: 'not_found' });
  expect((await ask('/healthz', { accept: 'text/html' })).body).toContain('"ok":true');
});

test('pages that the cloud makes have the colours of the web UI', () => {
  const tokens = (css: string): string[] => css.match(/--[a-z-]+: light-dark\([^)]+\)/g) ?? [];
  const ofUi = tokens(readFileSync(new URL('../../../web/src/app.css', import.meta.url), 'utf8'));
  const own = tokens(lookOfUi);
  expect(own.length).toBeGreaterThan(8);
  expect(ofUi).toEqual(expect.arrayContaining(own));
});
