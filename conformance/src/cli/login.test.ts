/** Logins: by key, by browser and by pasted code, and which profile applies where. */
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, signInByLink } from '../open-browser.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  [cloud, cli] = await Promise.all([startCloud(), openCommandLine()]);
  cli.secrets.add(cloud.key).add(cloud.partSecret);
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

const byKey = (): string[] => ['login', 'api-key', '--url', cloud.url, '--key-id', cloud.keyId];
const profilesFile = (): string => join(cli.home, 'cli', 'profiles.json');

test('login api-key reads the secret from standard input, stores it for its owner only, and whoami shows the identity', async () => {
  const before = await cli.run(['whoami']);
  expect(before).toMatchObject({ code: 4, stdout: '' });
  expect(before.stderr).toContain('run "platform login --url URL"');

  const wrong = await cli.run(byKey(), { input: 'not this key' });
  expect(wrong).toMatchObject({ code: 4, stdout: '' });
  expect(wrong.stderr).not.toContain('not this key');

  const login = await cli.ok(byKey(), { input: `${cloud.key}\n`, asProcess: true });
  expect(login.stdout).toBe('');
  expect(login.stderr).toContain('saved as profile "default"');
  expect(statSync(profilesFile()).mode & 0o777).toBe(0o600);

  const [text, json, list] = await Promise.all([
    cli.ok(['whoami']),
    cli.ok(['whoami', '--json']),
    cli.ok(['profiles', 'list', '--json']),
  ]);
  expect(text.stdout).toMatch(/^kind +key$/m);
  expect(text.stdout).toMatch(/^roles +owner of /m);
  expect(text.stderr).toBe('');
  expect(json.json()).toMatchObject({
    url: cloud.url,
    login: 'profile default',
    kind: 'key',
    id: cloud.keyId,
    roles: [{ role: 'owner', resource_type: 'organization', organization_id: cloud.organizationId }],
  });
  expect(list.json()).toEqual([
    {
      ...{ name: 'default', url: cloud.url, as: 'owner', organization: null, organization_id: null },
      ...{ current: true, default: true },
    },
  ]);
});

test('D30 login with a real browser and with a pasted code; logout ends the session in the cloud', async () => {
  await using opened = await openBrowser();
  const { page } = opened;
  await signInByLink(page, cloud.signInLink);
  await page.goto(`${cloud.url}/account`);
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Set e-mail' }).click();
  await page.getByText('Done.').waitFor();

  const login = cli.start(['login', '--url', cloud.url, '--profile', 'browser']);
  const [, address = ''] = await login.matching('stderr', /^Opening (\S+)$/m);
  await page.goto(address);
  expect(await page.locator('#compare').textContent()).toBe(
    /: ([0-9A-F]{4}-[0-9A-F]{4})$/m.exec(login.said.stderr)?.[1],
  );
  await page.getByRole('button', { name: 'Allow' }).click();
  expect((await login.ended).stderr).toContain('as ada@example.com; saved as profile "browser"');
  await page.getByText('return to the terminal').waitFor();

  // The page shows the code; a challenge is bound to the command line that created it.
  const pasted = cli.start(['login', '--url', cloud.url, '--profile', 'pasted', '--no-browser'], { input: 'no code' });
  await pasted.matching('stderr', /paste the code/);
  expect(await pasted.ended).toMatchObject({ code: 4, stdout: '' });
  const listening = cli.start(['login', '--url', cloud.url, '--profile', 'pasted', '--no-browser'], { keepOpen: true });
  const [, page2 = ''] = await listening.matching('stderr', /^ +(http\S+)$/m);
  await page.goto(page2);
  await page.getByRole('button', { name: 'Allow' }).click();
  listening.stdin.end(`${await page.locator('#code').textContent()}\n`);
  expect(await listening.ended).toMatchObject({ code: 0, stdout: '' });

  const me = await cli.ok(['whoami', '--profile', 'pasted', '--json=kind,name']);
  expect(me.json()).toEqual({ kind: 'person', name: 'ada@example.com' });
  const { stdout } = await cli.ok(['token', '--profile', 'pasted'], { reveals: true });
  const token = stdout.trim();
  cli.secrets.add(token);
  const ask = (): Promise<Response> =>
    fetch(`${cloud.url}/api/whoami`, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask()).status).toBe(200);
  await cli.ok(['logout', '--profile', 'pasted']);
  expect((await ask()).status).toBe(401);
  const gone = await cli.run(['whoami', '--profile', 'pasted']);
  expect(gone).toMatchObject({ code: 3, stdout: '' });
  expect(gone.stderr).toContain('browser');
});

test('a browser login that is denied, or ended with Ctrl-C, saves nothing', async () => {
  const login = cli.start(['login', '--url', cloud.url, '--profile', 'none']);
  const [, address = ''] = await login.matching('stderr', /^Opening (\S+)$/m);
  const { port, state } = Object.fromEntries(new URL(address).searchParams);
  const foreign = await fetch(`http://127.0.0.1:${port}/?code=x&state=another`);
  expect(foreign.status).toBe(404);
  await fetch(`http://127.0.0.1:${port}/?error=access_denied&state=${state}`);
  expect(await login.ended).toMatchObject({ code: 4, stdout: '' });
  const ended = cli.startProcess(['login', '--url', cloud.url, '--profile', 'none']);
  await ended.matching('stderr', /^Opening/m);
  ended.child.kill('SIGINT');
  expect(await ended.ended).toMatchObject({ code: 130, stdout: '' });
  expect((await cli.run(['whoami', '--profile', 'none'])).code).toBe(3);
});

test('precedence of logins: flag, environment, directory, default', async () => {
  mkdirSync(join(cli.directory, 'client', 'deep'), { recursive: true });
  // One at a time, because each replaces the whole file.
  for (const name of ['flag', 'environment', 'directory']) {
    await cli.ok([...byKey(), '--profile', name], { input: cloud.key });
  }
  await cli.ok(['profiles', 'bind', 'directory'], { directory: 'client' });
  const who = async (args: string[], options = {}): Promise<unknown> =>
    (await cli.ok(['whoami', '--json=login', ...args], options)).json()['login'];
  const env = { PLATFORM_PROFILE: 'environment' };
  const keyEnv = { PLATFORM_URL: cloud.url, PLATFORM_API_KEY_ID: cloud.keyId, PLATFORM_API_KEY: cloud.key };
  const directory = 'client/deep';
  const here = await who([]);
  const below = await Promise.all([
    who([], { directory }),
    who([], { directory, env }),
    who(['--profile', 'flag'], { directory, env }),
    who([], { directory, env: keyEnv }),
    who(['--url', cloud.url, '--key-id', cloud.keyId, '--key-file', '-'], { directory, env, input: cloud.key }),
  ]);
  expect([here, ...below]).toEqual([
    'profile default',
    'profile directory',
    'profile environment',
    'profile flag',
    'PLATFORM_API_KEY',
    '--key-file',
  ]);
  await cli.ok(['profiles', 'use', 'flag']);
  await cli.ok(['profiles', 'organization', cloud.organizationId]);
  await cli.ok(['profiles', 'delete', 'directory']);
  const list = await cli.ok(['profiles', 'list', '--json']);
  const bound = await cli.run(['whoami'], { directory });
  const rows = list.json<{ name: string; current: boolean; organization: string | null }[]>();
  expect(rows.find((row) => row.current)).toMatchObject({
    name: 'flag',
    organization: 'My organization',
    organization_id: cloud.organizationId,
  });
  expect(bound.code).toBe(3);
  await cli.ok(['profiles', 'unbind'], { directory: 'client' });
  expect(await who([], { directory })).toBe('profile flag');
});

test('the key of a profile is never sent to another address; a key given for the command may be', async () => {
  let connections = 0;
  const other = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {}).end('HTTP/1.1 404 Not Found\r\n\r\n');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const list = ['organizations', 'list', '--profile', 'flag'];
  const [byFlag, byEnvironment, tls] = await Promise.all([
    cli.run([...list, '--url', url]),
    cli.run(list, { env: { PLATFORM_URL: url } }),
    cli.run([...list, '--url', cloud.url.replace('http:', 'https:')]),
  ]);
  for (const ran of [byFlag, byEnvironment, tls]) expect(ran).toMatchObject({ code: 4, stdout: '' });
  expect(byFlag.stderr).toContain(`--url ${url}: profile "flag" is a login to ${cloud.url}`);
  expect(byFlag.stderr).toMatch(/Log in there with platform login --url .* --key-file/);
  expect(byEnvironment.stderr).toContain(`PLATFORM_URL ${url}: profile "flag"`);
  expect(connections).toBe(0);
  await cli.ok([...list, '--url', `${cloud.url}/`]);
  await cli.run([...list, '--url', url, '--key-id', cloud.keyId, '--key-file', '-'], { input: cloud.key });
  expect(connections).toBeGreaterThan(0);
  other.close();
});

test('an unreachable or silent cloud: what to do, exit codes 1 and 124', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = { PLATFORM_API_KEY_ID: cloud.keyId, PLATFORM_API_KEY: cloud.key };
  const [away, slow, plain] = await Promise.all([
    cli.run(['organizations', 'list', '--url', 'http://127.0.0.1:9'], { env }),
    cli.run(['organizations', 'list', '--url', `http://127.0.0.1:${port}`, '--timeout', '1s'], { env }),
    cli.run(['organizations', 'list', '--url', 'http://cloud.example'], { env }),
  ]);
  silent.close();
  expect(away).toMatchObject({ code: 1, stdout: '' });
  expect(away.stderr).toMatch(
    /http:\/\/127\.0\.0\.1:9 cannot be reached.*Is the cloud running, and is the address correct\?/s,
  );
  expect(slow).toMatchObject({ code: 124, stdout: '' });
  expect(slow.stderr).toContain('within 1s (--timeout)');
  expect(plain.code).toBe(2);
  expect(plain.stderr).toContain('plaintext');

  // Before anyone is asked to open a page.
  const [unreached, none, nobody] = await Promise.all([
    cli.run(['login', '--url', 'http://127.0.0.1:9', '--no-browser']),
    cli.run(['login', '--url', 'cloud', '--no-browser']),
    cli.run(['whoami', '--url', 'http://127.0.0.1:9'], { env: { PLATFORM_HOME: join(cli.home, 'nobody') } }),
  ]);
  expect(unreached).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('http://127.0.0.1:9 cannot be'),
  });
  expect(unreached.stderr).not.toContain('/sign-in/');
  expect(none).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('found "cloud"') });
  expect(nobody).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('not logged in to http://127.0.0.1:9: run "platform login --url'),
  });
});
