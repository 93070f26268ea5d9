/** The rows of docs/specs/doors.md that matter most, in a real browser: pages of others, and what they get from it. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSession } from '../app-api/web-session.ts';
import { startMachine } from '../machine/start-machine.ts';
import { type OpenBrowser, openBrowser, signInByLink } from '../open-browser.ts';
import { startCloud } from '../start-cloud.ts';

const sdk = readFileSync(
  fileURLToPath(import.meta.resolve('@viamrobotics/sdk')).replace(/main\.es\.js$/, 'main.umd.js'),
);
const motor = { name: 'wheel', api: 'core:component:motor', model: 'core:builtin:fake' };

interface Pages extends AsyncDisposable {
  readonly port: number;
  /** The requests for pages so far. */
  readonly asked: readonly IncomingMessage[];
}

/** A program that serves pages of somebody, with the public npm SDK; `/to?where` redirects, and sets the cookie that `cookie` names. */
async function startPages(): Promise<Pages> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://here');
    if (pathname === '/sdk.js') return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(sdk);
    if (pathname === '/to')
      return void response
        .writeHead(303, {
          location: searchParams.get('where') ?? '/',
          'set-cookie': `${searchParams.get('cookie') ?? 'a=b'}; Path=/`,
        })
        .end();
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><script src="/sdk.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    asked,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let browser: OpenBrowser;
let pages: Pages;
beforeAll(async () => {
  pages = await startPages();
  browser = await openBrowser(['--host-resolver-rules=MAP evil.example 127.0.0.1, MAP panel.example 127.0.0.1']);
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await pages?.[Symbol.asyncDispose]();
});

/** A page of its own browser profile. */
async function newPage(): Promise<Page> {
  const context = await browser.browser.newContext();
  onTestFinished(() => context.close());
  return context.newPage();
}

/** What the public npm SDK in the page gets from the machine: its platform, or why not. */
function callsWithSdk(page: Page, machine: string): Promise<string> {
  return page.evaluate<string>(`(async () => {
    const robot = await new sdk.RobotClient().dial({ host: ${JSON.stringify(machine)}, noReconnect: true });
    await new sdk.MotorClient(robot, 'wheel').setPower(0.5);
    return (await robot.getVersion()).platform;
  })().catch((error) => 'refused')`);
}

test('D50 in Chromium: pages of this computer and permitted ones move a motor with the npm SDK, pages of others do not', async () => {
  const network = { allowed_origins: [`http://panel.example:${pages.port}`] };
  await using machine = await startMachine({ components: [motor], network });
  // For other hosts, the SDK takes only WebRTC.
  const at = machine.url;
  const page = await newPage();
  for (const [name, expected] of [
    ['localhost', 'machine-server'],
    ['127.0.0.1', 'machine-server'],
    ['panel.example', 'machine-server'],
    ['evil.example', 'refused'],
  ]) {
    await page.goto(`http://${name}:${pages.port}/`);
    expect([name, await callsWithSdk(page, at)]).toEqual([name, expected]);
  }
  // What needs no preflight, and what a page may try without reading the answer.
  const sent = await page.evaluate<string>(`(async () => {
    const shutdown = '${at}/platform.robot.v1.RobotService/Shutdown';
    await fetch(shutdown, { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{}' });
    await fetch(shutdown, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).catch(() => {});
    return fetch('${at}/platform/api/v1/machine_status').then(() => 'read', () => 'refused');
  })()`);
  expect(sent).toBe('refused');
  // DNS rebinding: the name of the page leads to the machine.
  const rebound = await page.goto(`http://evil.example:${machine.target.split(':')[1]}/`);
  expect(rebound?.status()).toBe(403);
  await page.goto(`http://localhost:${pages.port}/`);
  expect(await callsWithSdk(page, at)).toBe('machine-server');
});

test('D50 in Chromium: with keys, a page of any origin calls with a key, and gets nothing without', async () => {
  const auth = { handlers: [{ type: 'api-key', config: { id: 'the key' } }] };
  await using machine = await startMachine({ components: [motor], auth });
  const page = await newPage();
  await page.goto(`http://evil.example:${pages.port}/`);
  expect(await callsWithSdk(page, machine.url)).toBe('refused');
  const platform = await page.evaluate<string>(`(async () => {
    const credentials = { type: 'api-key', authEntity: 'id', payload: 'the key' };
    const robot = await new sdk.RobotClient().dial({ host: '${machine.url}', credentials, noReconnect: true });
    return (await robot.getVersion()).platform;
  })()`);
  expect(platform).toBe('machine-server');
});

test('D49 in Chromium: a program on another port receives the cookie, and gets nowhere with it; it cannot plant a session either', async () => {
  await using cloud = await startCloud();
  const page = await newPage();
  await signInByLink(page, cloud.signInLink);
  const neighbour = `http://${new URL(cloud.url).hostname}:${pages.port}`;
  await page.goto(`${neighbour}/`);
  const cookie = pages.asked.findLast(({ url }) => url === '/')?.headers.cookie ?? '';
  const [, value = ''] = /platform_[\w-]+_session=([\w.-]+)/.exec(cookie) ?? [];
  expect(value).not.toBe('');
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${cloud.url}/api/whoami`, { headers })).status;
  expect(await statusOf({ authorization: `Bearer ${value}` })).toBe(401);
  expect(await statusOf({ cookie, origin: cloud.url, 'platform-session': value })).toBe(401);
  // The page itself, whose requests carry the cookie.
  const read = await page.evaluate<string>(
    `fetch('${cloud.url}/api/whoami', { credentials: 'include' }).then((answer) => 'read', () => 'refused')`,
  );
  expect(read).toBe('refused');
  await page.evaluate(`fetch('${cloud.url}/account/sign-out-everywhere', {
    method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({ session: '' }) })`);
  await page.goto(`${cloud.url}/account`);
  await page.getByText('Your account').first().waitFor();

  // Somebody else's session, whose cookie the other port sets, and whose secret a link carries.
  const eve = new WebSession(cloud.url);
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Set e-mail' }).click();
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Done.').waitFor();
  await eve.open('/sign-in');
  await eve.submit('/sign-in', { email: 'ada@example.com', password: 'correct horse battery' });
  const { cookie: theirs = '', 'platform-session': secret = '' } = eve.headers;
  const done = `${cloud.url}/sign-in/done?next=/account#session=${secret}&begun=web-session`;
  const other = await newPage();
  await other.goto(`${neighbour}/to?cookie=${encodeURIComponent(theirs)}&where=${encodeURIComponent(done)}`);
  await other.getByText('You are not signed in').waitFor();
  await other.goto(`${cloud.url}/account`);
  await other.getByLabel('Password').waitFor();
});
