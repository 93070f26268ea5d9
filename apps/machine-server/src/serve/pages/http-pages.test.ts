import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type FakeCloud, startFakeCloud } from '../../testing/fake-cloud.ts';
import {
  countingDocument,
  createTestHome,
  patientClock,
  startTestServer,
  until,
} from '../../testing/start-test-server.ts';
import type { RestartStatus } from './restart-status.ts';

async function start(
  document: object,
  args: readonly string[] = [],
): Promise<{ cloud: FakeCloud; url: string; link: Link }> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud(document));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock, undefined, { args }));
  await until('the configuration', () => cloud.logs.includes('configuration applied'));
  const url = `http://127.0.0.1:${server.serving.port}`;
  return { cloud, url, link: stack.use(connect({ baseUrl: url })) };
}

const sensor = (name: string, attributes: object = {}) => ({
  ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake', attributes },
});
const motor = { name: 'wheel', api: 'core:component:motor', model: 'core:builtin:fake' };

test('the status page shows resources and errors, escaped, and no scripts may run in it', async () => {
  const evil = { ...motor, name: '<script>alert(1)', attributes: { errors: { '<b>"&': 'x' } } };
  const { url } = await start({ components: [sensor('calm'), evil] });
  const response = await fetch(url);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page).not.toContain('<script');
  expect(page).toContain('<td>&lt;script&gt;alert(1)</td>');
  expect(page).toMatch(/found &quot;&lt;b&gt;.*&amp;&quot;<\/td>/);
  expect(page).toContain('2 resources, 1 not running');
  expect(page).toMatch(/<td>calm<\/td>.*<td>ready<\/td>/);
  // Resources that do not run come first.
  expect(page.indexOf('&lt;script&gt;')).toBeLessThan(page.indexOf('<td>calm'));
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
});

test('with credentials configured, the page needs an API key or a location secret', async () => {
  const handlers = [{ type: 'api-key', config: { 'key-id': 'key-value', keys: ['key-id'] } }];
  const { url } = await start({ components: [sensor('calm')], auth: { handlers } });
  const statusWith = async (credentials?: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
    return (await fetch(url, credentials === undefined ? {} : { headers: { authorization } })).status;
  };
  expect(await statusWith()).toBe(401);
  expect((await fetch(url)).headers.get('www-authenticate')).toMatch(/^Basic /);
  expect(await statusWith('key-id:wrong')).toBe(401);
  expect(await statusWith('other:key-value')).toBe(401);
  expect(await statusWith('key-id:key-value')).toBe(200);
});

test('a browser that was directed here by another name sees nothing', async () => {
  const { url } = await start({ components: [sensor('calm')] });
  const asked = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${url}${path}`, { headers: { host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });
  expect([await asked('/'), await asked('/restart_status')]).toEqual([403, 403]);
});

test('D9 a restart is allowed while nothing moves and the maintenance window is open; otherwise the answer gives the reasons', async () => {
  const maintenance = { sensor_name: 'core:component:sensor/idle', maintenance_allowed_key: 'idle' };
  const open = { components: [sensor('idle', { readings: { idle: true } }), motor], maintenance };
  const { cloud, url, link } = await start(open);
  const status = async () => (await (await fetch(`${url}/restart_status`)).json()) as RestartStatus;
  const nothing = { restart_allowed: true, does_not_handle_needs_restart: false, reasons: [] };
  await until('a restart to be allowed', async () => (await status()).restart_allowed);
  expect(await status()).toEqual(nothing);

  const driven = link.client(MotorService);
  const motion = driven.goFor({ name: 'wheel', rpm: 1, revolutions: 1_000 }).catch(() => {});
  await until('the motion', async () => (await driven.isMoving({ name: 'wheel' })).isMoving);
  expect(await status()).toMatchObject({
    restart_allowed: false,
    reasons: [expect.stringMatching(/^something is being moved: .*MotorService\/GoFor \(operation /)],
  });
  await driven.stop({ name: 'wheel' });
  await motion;

  cloud.document = { ...open, components: [sensor('idle', { readings: { idle: false } }), motor] };
  await until('a closed window', async () => !(await status()).restart_allowed);
  const closed = [
    'the maintenance window is closed: expected true under "idle" of core:component:sensor/idle, found false',
  ];
  await until('the reason', async () => JSON.stringify((await status()).reasons) === JSON.stringify(closed));

  // The waiting revision, since when and why: over RPC and on the page.
  const before = Date.now();
  cloud.document = { ...open, components: [sensor('idle'), motor] };
  const robot = link.client(RobotService);
  await until('the pending one', async () => (await robot.getMachineStatus({})).pendingConfig !== undefined);
  const { pendingConfig: pending, config } = await robot.getMachineStatus({});
  expect(pending?.reason).toBe('expected true under "idle" of core:component:sensor/idle, found false');
  expect(pending?.revision).not.toBe(config?.revision);
  expect(Number(pending?.since?.seconds)).toBeGreaterThanOrEqual(Math.floor(before / 1_000));
  const page = await (await fetch(url)).text();
  expect(page).toContain(`A newer configuration (revision ${pending?.revision}) has been waiting`);
  expect(page).toContain('found false</p>');
});

/** Requests exactly this path, without the normalisation of `fetch`. */
async function ask(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; type: string }> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body, type: String(response.headers['content-type']) }),
      );
    });
    request.on('error', reject);
  });
}

test('D16 -shareddir serves its files at /static/, and nothing outside it, no dot files and no links', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'shared-'));
  onTestFinished(() => rm(outside, { recursive: true }));
  const shared = join(outside, 'web');
  await mkdir(join(shared, 'sub'), { recursive: true });
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await writeFile(join(shared, 'index.html'), '<h1>hello</h1>');
  await writeFile(join(shared, 'sub', 'style.css'), 'a {}');
  await writeFile(join(shared, 'empty.txt'), '');
  await writeFile(join(shared, '.env'), 'secret');
  await symlink(join(outside, 'secret.txt'), join(shared, 'link.txt'));
  await symlink(outside, join(shared, 'up'));
  await symlink(join(shared, '.env'), join(shared, 'env.txt'));
  await symlink(join(shared, 'sub'), join(shared, 'inside'));
  const { url } = await start({ components: [sensor('calm')] }, ['-shareddir', shared]);
  const served: Record<string, [string, string]> = {
    '/static/': ['<h1>hello</h1>', 'text/html; charset=utf-8'],
    '/static/index.html?v=1': ['<h1>hello</h1>', 'text/html; charset=utf-8'],
    '/static/sub/style.css': ['a {}', 'text/css; charset=utf-8'],
    '/static/sub/style%2Ecss?v=1': ['a {}', 'text/css; charset=utf-8'],
    '/static/empty.txt': ['', 'text/plain; charset=utf-8'],
  };
  for (const [path, [body, type]] of Object.entries(served))
    expect(await ask(url, path), path).toEqual({ status: 200, body, type });
  const refused = ['../secret.txt', '%2e%2e/secret.txt', '..%2fsecret.txt', 'sub/../../secret.txt', 'link.txt', '.env'];
  const more = [
    'up/secret.txt',
    'inside/style.css',
    'env.txt',
    'sub',
    'sub/',
    'nothing',
    '%00',
    '%ff',
    '..\\secret.txt',
    '/etc/passwd',
    'a//b',
  ];
  for (const path of [...refused, ...more]) {
    const { status, body } = await ask(url, `/static/${path}`);
    expect([path, status, body.includes('secret\n') || body === 'secret']).toEqual([path, 404, false]);
  }
  expect((await fetch(`${url}/static/`, { method: 'HEAD' })).headers.get('content-length')).toBe('14');
  await expect(start({ components: [] }, ['-shareddir', join(shared, 'index.html')])).rejects.toThrow(
    /option -shareddir: expected a directory, found something else at .*index\.html/,
  );
});

test('D16 -webprofile serves profiles to this computer, and without it there is no such page', async () => {
  const { url } = await start({ components: [sensor('calm')] }, ['-webprofile']);
  expect((await ask(url, '/debug/')).body).toContain('/debug/profile?seconds=10');
  // On a busy computer the first may end before the second begins.
  await until('a refusal of a second profile at the same time', async () => {
    const [cpu, second] = await Promise.all([
      ask(url, '/debug/profile?seconds=0.2'),
      ask(url, '/debug/heap?seconds=0.1'),
    ]);
    expect(cpu.status).toBe(200);
    expect(JSON.parse(cpu.body)).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
    return second.status === 409;
  });
  expect(JSON.parse((await ask(url, '/debug/heap?seconds=0.1')).body)).toMatchObject({ head: expect.any(Object) });
  expect(JSON.parse((await ask(url, '/debug/vars')).body)).toMatchObject({ memory: { rss: expect.any(Number) } });
  expect((await ask(url, '/debug/profile?seconds=301')).body).toContain('at most 300, found "301"');
  expect((await ask(url, '/debug/other')).status).toBe(404);
  // A page of another site whose own name points here.
  expect((await ask(url, '/debug/vars', { host: 'evil.example' })).status).toBe(403);
  const plain = await start({ components: [sensor('calm')] });
  expect((await ask(plain.url, '/debug/vars')).status).toBe(404);
  expect((await ask(plain.url, '/static/')).status).toBe(404);
});

test('the status page shows capture and sync for each resource, and why nothing is sent', async () => {
  const { url } = await start(countingDocument(50, { service: { sync_rules: { network_interfaces: ['<none>'] } } }));
  const page = async (): Promise<string> => (await fetch(url)).text();
  await until('the reason', async () =>
    (await page()).includes('sync: held: sync_rules.network_interfaces allows &lt;none&gt;'),
  );
  await until('captured readings', async () =>
    /<td>core:component:sensor\/counter<\/td><td>[1-9]\d*<\/td>/.test(await page()),
  );
});
