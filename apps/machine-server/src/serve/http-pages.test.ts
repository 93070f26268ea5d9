import { get } from 'node:http';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type FakeCloud, startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until } from '../testing/start-test-server.ts';
import type { RestartStatus } from './restart-status.ts';

async function start(document: object): Promise<{ cloud: FakeCloud; url: string; link: Link }> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud(document));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock));
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
  // What does not run comes first.
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

test('a browser that was led here by another name sees nothing', async () => {
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

test('D9 a restart is allowed while nothing moves and the maintenance window is open, and the answer says what is against it', async () => {
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

  // What waits, since when and why: over RPC and on the page.
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
