/**
 * A second machine from only the printed line, in another home and process: in plaintext on loopback, and over TLS with a pinned
 * certificate.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { temporaryDirectory } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from '../cli/command-line.ts';
import { type CloudProcess, machineServer, startCloud } from '../start-cloud.ts';
import { baseOfScript } from './base-of-script.ts';
import { runLine, stopStarted } from './run-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
let elsewhere: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  cloud = await startCloud({ PLATFORM_MACHINE_SERVER: machineServer });
  const { url, keyId, key } = cloud;
  cli = await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key });
  elsewhere = await temporaryDirectory('elsewhere-');
});
afterAll(async () => {
  await stopStarted(elsewhere.path);
  await elsewhere?.[Symbol.asyncDispose]();
  await cli?.[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
});

const at = (name: string, home = elsewhere.path): string => join(home, 'machine-server', name);

const inShell = (line: string, env: Readonly<Record<string, string>> = {}): Promise<{ code: number; said: string }> =>
  runLine(line, elsewhere.path, env);

async function newLine(): Promise<string> {
  return (await cli.ok(['machines', 'connect', 'press-7', '--no-wait', '--json'], { reveals: true })).json<{
    line: string;
  }>().line;
}

/** The address in a line. */
function urlOf(line: string): string {
  return /http[^"]+/.exec(line)?.[0] ?? '';
}

test('one printed line connects a second machine, and each step is shown until its first reading', async () => {
  const fromMs = systemClock.monotonic();
  const waiting = cli.start(['machines', 'connect', 'press-7'], { reveals: true });
  const [line] = await waiting.matching('stdout', /^printf .*$/m);
  expect(waiting.said.stderr).toContain('listens on loopback only');
  expect(waiting.said.stderr).toContain('platform up --host 0.0.0.0');
  const ran = await inShell(line);
  expect(ran).toMatchObject({ code: 0, said: expect.stringContaining('started') });
  const ended = await waiting.ended;
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('first reading') });
  expect(ended.stderr).toContain('the line was fetched from 127.0.0.1');
  console.log(`connected in ${Math.round(systemClock.monotonic() - fromMs)} ms`);
  expect(statSync(at('credentials.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(at('run'), 'utf8')).toContain(` ${nodeFlags.join(' ')} `);
  expect(line).not.toContain(JSON.parse(readFileSync(at('credentials.json'), 'utf8')).cloud.secret);
  const listed = await cli.ok(['machines', 'part', 'resources', 'press-7', '--json']);
  expect(listed.json()).toContainEqual(expect.objectContaining({ name: 'host', state: 'ready' }));
});

test('a new line repairs an existing machine; a used one does not give the credentials again', async () => {
  const line = await newLine();
  const repaired = await inShell(line);
  expect(repaired).toMatchObject({ code: 0 });
  expect((await fetch(urlOf(line))).status).toBe(409);
  await using other = await temporaryDirectory('third-');
  const copied = await inShell(line, { PLATFORM_HOME: other.path });
  expect(copied.said).toContain('error: 409');
  expect(readdirSync(other.path)).toEqual([]);
});

test('no program gets the token, or what it leads to, as an argument, where other accounts would see it', async () => {
  const line = await newLine();
  await using fresh = await temporaryDirectory('arguments-');
  const bin = join(fresh.path, 'bin');
  mkdirSync(bin);
  const seen = join(fresh.path, 'seen');
  // Notes its arguments, and its input as a program that may know them.
  const real = (await inShell('command -v curl')).said.trim();
  writeFileSync(
    join(bin, 'curl'),
    `#!/bin/sh\nprintf '%s\\n' "$*" >>'${seen}'\nin=$(cat)\nprintf '%s\\n' "$in" >>'${seen}.input'\nprintf '%s\\n' "$in" | '${real}' "$@"\n`,
    { mode: 0o755 },
  );
  const env = { PATH: `${bin}:${process.env['PATH']}`, PLATFORM_HOME: fresh.path };
  expect(await inShell(line, env)).toMatchObject({ code: 0, said: expect.stringContaining('started') });
  await stopStarted(fresh.path);
  const secrets = [...readFileSync(`${seen}.input`, 'utf8').matchAll(/\/connect\/([\w-]+)/g)].map(
    ([, secret = '']) => secret,
  );
  expect(secrets.length).toBeGreaterThanOrEqual(3);
  const args = readFileSync(seen, 'utf8');
  expect(args.match(/-K -/g)).toHaveLength(secrets.length);
  for (const secret of secrets) expect(args).not.toContain(secret);
});

test('a line that somebody else fetched first works: the last fetch counts, and who made the line sees both', async () => {
  const line = await newLine();
  const base = (): Promise<string> => baseOfScript(urlOf(line));
  const [stolen, own] = [await base(), await base()];
  expect((await fetch(`${stolen}/credentials`, { method: 'POST' })).status).toBe(404);
  expect((await fetch(`${stolen}/machine-server.tar.gz`)).status).toBe(404);
  expect((await fetch(`${urlOf(line)}/credentials`, { method: 'POST' })).status).toBe(404);
  const state = async (): Promise<unknown> => (await fetch(`${urlOf(line)}/state`)).json();
  expect(await state()).toMatchObject({ fetch_count: 2, fetches: [{ address: '127.0.0.1' }, {}], used_from: null });
  expect((await fetch(`${own}/credentials`, { method: 'POST' })).status).toBe(200);
  expect((await fetch(`${own}/credentials`, { method: 'POST' })).status).toBe(409);
  expect(await state()).toMatchObject({ used_from: '127.0.0.1', used_at: expect.any(String) });
});

test('who waits for a machine is told of every fetch of the line, and from where', async () => {
  const waiting = cli.startProcess(['machines', 'connect', 'press-12'], { reveals: true });
  const [line] = await waiting.matching('stdout', /^printf .*$/m);
  expect((await fetch(urlOf(line))).status).toBe(200);
  await waiting.matching('stderr', /the line was fetched from 127\.0\.0\.1$/m);
  expect((await fetch(urlOf(line))).status).toBe(200);
  await waiting.matching('stderr', /the line was fetched again, from 127\.0\.0\.1 \(2 times in all\)/);
  waiting.child.kill('SIGINT');
  await waiting.ended;
});

test('a home of another machine, a damaged download and an unknown computer are refused with the reason', async () => {
  const { line } = (await cli.ok(['machines', 'connect', 'press-8', '--no-wait', '--json'], { reveals: true })).json<{
    line: string;
  }>();
  expect(await inShell(line)).toMatchObject({ code: 1, said: expect.stringContaining('belongs to another machine') });

  const script = await (await fetch(urlOf(line))).text();
  const piped = (text: string, env: Readonly<Record<string, string>>): Promise<{ code: number; said: string }> =>
    inShell(`sh <<'SCRIPT'\n${text}\nSCRIPT`, env);
  await using fresh = await temporaryDirectory('fourth-');
  const env = { PLATFORM_HOME: fresh.path };
  const damaged = await piped(script.replace(/archive_sum='\\''\w+'\\''/, 'archive_sum=0'), env);
  expect(damaged).toMatchObject({ code: 1, said: expect.stringContaining('damaged') });

  // A computer of an architecture without any Node, neither from the cloud nor installed.
  const bin = join(fresh.path, 'bin');
  const unknown = await piped(
    `mkdir -p '${bin}'; for one in sh tar curl grep sed cat mkdir rm chmod mv sha256sum id; do ln -s "$(command -v $one)" '${bin}/'; done; printf '#!/bin/sh\\ncase $1 in -s) echo Linux ;; *) echo riscv64 ;; esac\\n' > '${bin}/uname'; chmod 755 '${bin}/uname'; PATH='${bin}'\n${script}`,
    env,
  );
  expect(unknown).toMatchObject({ code: 1, said: expect.stringContaining('this computer is linux-riscv64') });
  const otherSystem = await piped(`uname() { echo FreeBSD; }\n${script}`, env);
  expect(otherSystem).toMatchObject({
    code: 1,
    said: expect.stringContaining('expected Linux or macOS, found FreeBSD'),
  });
  expect((await fetch(`${cloud.url}/connect/unknown-token`)).status).toBe(404);
});

test('R16 a token ends when the key that made it loses its right', async () => {
  const made = await cli.ok(['api-keys', 'create', 'installer', '--role', 'owner', '--json'], { reveals: true });
  const { id, key } = made.json<{ id: string; key: string }>();
  const env = { PLATFORM_API_KEY_ID: id, PLATFORM_API_KEY: key };
  const asked = ['machines', 'connect', 'press-11', '--no-wait', '--json'];
  const { line } = (await cli.ok(asked, { reveals: true, env })).json<{ line: string }>();
  await cli.ok(['api-keys', 'delete', id, '--yes']);
  const base = await baseOfScript(urlOf(line));
  const refused = await fetch(`${base}/credentials`, { method: 'POST' });
  expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ code: 'permission_denied' })]);
});

test('--service makes an account with the groups of devices, writes a unit for systemd, enables and starts it, and asks for root', async () => {
  await using fresh = await temporaryDirectory('service-');
  const asked = ['machines', 'connect', 'press-10', '--service', '--no-wait', '--json'];
  const { line } = (await cli.ok(asked, { reveals: true })).json<{ line: string }>();
  expect(line).toMatch(/\| sudo sh -s -- --service$/);
  const bin = join(fresh.path, 'bin');
  mkdirSync(bin);
  // The system's own systemd, if there is one, is not used.
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program('sudo', 'exec "$@"');
  program('id', '[ "$1" = -u ] && echo "$ASKED_ID" || echo someone');
  const noting = (name: string): string => `echo "${name} $*" >>'${fresh.path}/asked'`;
  for (const name of ['systemctl', 'useradd', 'usermod', 'chown']) program(name, noting(name));
  // This computer has no such account, and two of the groups.
  program('getent', '[ "$1" = group ] && { [ "$2" = dialout ] || [ "$2" = video ]; }');
  program('su', `${noting('su')}; shift 4; exec sh -c "$1"`);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    ...{ PLATFORM_HOME: fresh.path, PLATFORM_UNIT_DIRECTORY: fresh.path, PLATFORM_SBIN_DIRECTORY: fresh.path },
  };
  const person = await inShell(line, { ...env, ASKED_ID: '1000' });
  expect(person).toMatchObject({ code: 1, said: expect.stringContaining('expected root, found someone') });
  expect(await inShell(line, { ...env, ASKED_ID: '0' })).toMatchObject({ code: 0 });
  const asked1 = readFileSync(join(fresh.path, 'asked'), 'utf8').trimEnd().split('\n');
  expect(asked1).toEqual([
    `useradd --system --user-group --home-dir ${fresh.path} --no-create-home --shell /bin/sh machine-server`,
    'usermod --append --groups dialout machine-server',
    'usermod --append --groups video machine-server',
    `chown machine-server: ${fresh.path}`,
    'su -s /bin/sh machine-server -c sh -s',
    ...['systemctl daemon-reload', 'systemctl enable machine-server', 'systemctl restart machine-server'],
  ]);
  const unit = (): string => readFileSync(join(fresh.path, 'machine-server.service'), 'utf8');
  expect(unit()).toContain(`[Service]\nUser=machine-server\nExecStart=${at('run', fresh.path)}\nRestart=always`);

  program('userdel', noting('userdel'));
  const removing = { PATH: env.PATH, PLATFORM_SBIN_DIRECTORY: fresh.path, PLATFORM_HOME: join(fresh.path, 'none') };
  const remove = (id: string, ...options: string[]) =>
    cli.run(['uninstall', ...options], { env: { ...removing, ASKED_ID: id } });
  expect((await remove('1000')).stderr).toContain('expected --service');
  expect((await remove('1000', '--service')).stderr).toContain('expected root, found someone');
  writeFileSync(join(fresh.path, 'asked'), '');
  const kept = await remove('0', '--service');
  expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining(`What it stored stays in ${fresh.path}`) });
  const [ended, reloaded] = readFileSync(join(fresh.path, 'asked'), 'utf8').split('\n');
  expect([ended, reloaded]).toEqual(['systemctl disable --now machine-server', 'systemctl daemon-reload']);
  expect(existsSync(join(fresh.path, 'machine-server.service'))).toBe(false);
  expect(existsSync(at('credentials.json', fresh.path))).toBe(false);
  expect(await remove('0', '--service', '--data', '--yes')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('removed the account machine-server'),
  });
  expect(readFileSync(join(fresh.path, 'asked'), 'utf8')).toContain('userdel machine-server');
  expect(readdirSync(fresh.path).toSorted()).toEqual(['asked', 'bin']);
});

test('--service: root touches nothing in a folder of the account, which may contain links', async () => {
  await using fresh = await temporaryDirectory('service-');
  const asked = ['machines', 'connect', 'press-13', '--service', '--no-wait', '--json'];
  const { line } = (await cli.ok(asked, { reveals: true })).json<{ line: string }>();
  const [bin, seen] = [join(fresh.path, 'bin'), join(fresh.path, 'seen')];
  mkdirSync(bin);
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program('sudo', 'exec "$@"');
  program('id', 'echo 0');
  for (const name of ['systemctl', 'useradd', 'usermod', 'chown', 'getent']) program(name, 'exit 0');
  program('su', 'shift 4; AS_ACCOUNT=yes exec sh -c "$1"');
  // The folder is the account's.
  program('ls', 'echo "drwx------ 2 4711 4711"');
  for (const name of ['cat', 'rm', 'mv', 'mkdir', 'chmod']) {
    const real = (await inShell(`command -v ${name}`)).said.trim();
    const noting = `case "$AS_ACCOUNT $*" in yes*) ;; *'${at('', fresh.path)}/'*) echo "${name} $*" >>'${seen}' ;; esac`;
    program(name, `${noting}\nexec '${real}' "$@"`);
  }
  mkdirSync(at('', fresh.path));
  // It is not downloaded again.
  linkSync(at('node'), at('node', fresh.path));
  writeFileSync(at('pid', fresh.path), '4194304');
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    ...{ PLATFORM_HOME: fresh.path, PLATFORM_UNIT_DIRECTORY: fresh.path, PLATFORM_SBIN_DIRECTORY: fresh.path },
  };
  expect(await inShell(line, env)).toMatchObject({ code: 0 });
  expect(existsSync(at('pid', fresh.path))).toBe(false);
  expect(existsSync(seen) ? readFileSync(seen, 'utf8') : '').toBe('');
});

test('uninstall stops and removes what the line installed; what the machine-server stored stays until --data', async () => {
  await using fresh = await temporaryDirectory('uninstall-');
  const env = { PLATFORM_HOME: fresh.path, PLATFORM_SBIN_DIRECTORY: fresh.path };
  const uninstall = (...options: string[]) => cli.run(['uninstall', ...options], { env });
  expect(await uninstall()).toMatchObject({ code: 3, stderr: expect.stringContaining('platform machines connect') });
  const waiting = cli.start(['machines', 'connect', 'press-14'], { reveals: true });
  const [line] = await waiting.matching('stdout', /^printf .*$/m);
  const ran = await inShell(line, env);
  expect(ran.said).toContain(`To remove it: sh ${at('uninstall', fresh.path)}`);
  expect(await waiting.ended).toMatchObject({ code: 0 });
  const pid = Number(readFileSync(at('pid', fresh.path), 'utf8'));
  mkdirSync(join(fresh.path, 'cloud'));

  const kept = await uninstall();
  expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining(`What it stored stays in ${fresh.path}`) });
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(readdirSync(at('', fresh.path))).toEqual(['uninstall']);
  expect(readdirSync(fresh.path)).toContain('capture');

  const asked = await uninstall('--data');
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('including readings that were not sent?') });
  expect(readdirSync(fresh.path)).toContain('capture');
  expect(await uninstall('--data', '--yes')).toMatchObject({ code: 0 });
  // A cloud in the same home keeps its data.
  expect(readdirSync(fresh.path)).toEqual(['cloud']);
});

test('over TLS the line pins the certificate of the cloud: another certificate is refused, the pinned one connects', async () => {
  await using secure = await startCloud({ PLATFORM_MACHINE_SERVER: machineServer }, ['--tls-name', 'localhost']);
  await using home = await temporaryDirectory('secure-');
  await using secureCli = await openCommandLine();
  const signIn = ['login', 'api-key', '--key-id', secure.keyId, '--key-file', '-', '--url', secure.url];
  await secureCli.ok([...signIn, '--fingerprint', secure.caFingerprint], { input: secure.key });
  const connect = ['machines', 'connect', 'press-9', '--address', secure.url, '--no-wait', '--json'];
  const unpinned = (await secureCli.ok(connect, { reveals: true })).json<{ line: string }>().line;
  expect(unpinned).not.toContain('--pinnedpubkey');
  const waiting = secureCli.start(['machines', 'connect', 'press-9'], { reveals: true });
  const [line] = await waiting.matching('stdout', /^printf .*$/m);
  const env = { PLATFORM_HOME: home.path };
  const wrong = await inShell(line.replaceAll(/sha256\/\/[\w+/]{4}/g, 'sha256//AAAA'), env);
  expect(wrong.said).toContain('does not match pinned public key');
  expect(await inShell(line, env)).toMatchObject({ code: 0, said: expect.stringContaining('started') });
  expect(await waiting.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('first reading') });
  await stopStarted(home.path);
});
