/** The command line in scripts: exit codes, pipes, completion, queries, the host administrator, and clouds with their own authority. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { spawnChild } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const cliMain = program('platform');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

interface Ready {
  readonly url: string;
  readonly ca_fingerprint: string;
  readonly key_id: string;
  readonly key: string;
  readonly organization_id: string;
}

let cli: CommandLine;
let up: ReturnType<typeof spawnChild>;
let ready: Ready;
const dataDir = (): string => join(cli.home, 'cloud');

beforeAll(async () => {
  cli = await openCommandLine();
  up = spawnChild(process.execPath, [...nodeFlags, cliMain, 'up', '--tls', '--port', '0', '--json'], {
    env: { PLATFORM_HOME: cli.home, PLATFORM_LOG_LEVEL: 'error' },
  });
  ready = (await up.waitForLine((line) => line['event'] === 'ready')) as unknown as Ready;
  cli.secrets.add(ready.key);
});
afterAll(async () => {
  await up.kill('SIGTERM');
  await cli[Symbol.asyncDispose]();
});

test('--version prints the same as the command version', async () => {
  expect((await cli.ok(['--version'], { asProcess: true })).stdout).toBe((await cli.ok(['version'])).stdout);
});

test('D31 platform up --tls: its machine-server trusts the authority of the cloud, and so does a login by fingerprint', async () => {
  expect(ready.url).toMatch(/^https:/);
  // Captured, synced over TLS, queried over TLS.
  await up.waitForLine((line) => line['event'] === 'reading');
  // Without a login, the demo of this computer is queried, wherever its cloud is.
  const demo = (await cli.ok(['whoami', '--json=url,login'])).json();
  expect(new URL(String(demo['url'])).port).toBe(new URL(ready.url).port);
  expect(demo['login']).toContain('the demo on this computer');
  const refused = await cli.run(['locations', 'create', 'Plant']);
  expect(refused).toMatchObject({ code: 4, stdout: '' });
  expect(refused.stderr).toMatch(/may only read; log in with: platform login --url https:/);
  await cli.ok(['query', 'mql', '{"$limit":1}', '--data', dataDir()]);
  const login = ['login', 'api-key', '--url', ready.url, '--key-id', ready.key_id];
  const other = Array(32).fill('00').join(':');
  const [untrusted, wrong] = await Promise.all([
    cli.run(login, { input: ready.key }),
    cli.run([...login, '--fingerprint', other], { input: ready.key }),
  ]);
  expect(untrusted).toMatchObject({ code: 1, stdout: '' });
  expect(untrusted.stderr).toMatch(/normal for a self-hosted cloud.*--ca FILE.*--fingerprint/s);
  expect(wrong).toMatchObject({ code: 5, stdout: '' });
  await cli.ok([...login, '--fingerprint', ready.ca_fingerprint], { input: ready.key });
  // Over gRPC, and over plain HTTPS.
  const me = await cli.ok(['whoami', '--json=id']);
  await expect
    .poll(async () => (await cli.ok(['machines', 'list', '--json=state'])).json())
    .toEqual([{ state: 'online' }]);
  expect(me.json()).toEqual({ id: ready.key_id });
  // A key for one command uses the address of the login, and the authority that it trusts.
  const byKey = await cli.ok(['whoami', '--json=url,login', '--key-id', ready.key_id, '--key-file', '-'], {
    input: ready.key,
  });
  expect(byKey.json()).toEqual({ url: ready.url, login: '--key-file' });
});

test('query uses the login: rows are lines of JSON, fields are selected, mistakes are usage errors', async () => {
  const sql = "SELECT component_name FROM readings WHERE component_name = 'host' LIMIT 2";
  // The second reading of the host may not have arrived yet.
  await expect.poll(async () => (await cli.ok(['query', 'sql', sql, '--json'])).stdout.split('\n')).toHaveLength(3);
  const [rows, picked, wrongJson, wrongSql, demo] = await Promise.all([
    cli.ok(['query', 'sql', sql, '--json']),
    cli.ok(['query', 'mql', '[{"$limit":1}]', '--json=component_name']),
    cli.run(['query', 'mql', '[{"$limit":']),
    cli.run(['query', 'sql', 'SELECT FROM']),
    cli.run(['query', 'sql', sql, '--data', dataDir(), '--url', 'http://127.0.0.1:9']),
  ]);
  expect(rows.stdout).toBe('{"component_name":"host"}\n{"component_name":"host"}\n');
  expect(Object.keys(picked.json())).toEqual(['component_name']);
  expect(wrongJson).toMatchObject({ code: 2, stdout: '' });
  expect(wrongSql).toMatchObject({ code: 2, stdout: '' });
  expect(demo.code).toBe(1);
});

test('the host administrator needs no login: status, doctor, limits, audit, a link for an owner', async () => {
  const at = ['--data', dataDir()];
  const [status, doctor, limits, organizations, unknown] = await Promise.all([
    cli.ok(['admin', 'status', '--json', ...at]),
    cli.ok(['admin', 'doctor', '--deep', '--json', ...at]),
    cli.ok(['admin', 'limits', 'get', 'My organization', '--json', ...at]),
    cli.ok(['admin', 'organizations', 'list', '--json=id', ...at]),
    cli.run(['admin', 'limits', 'get', 'nobody', ...at]),
  ]);
  expect(status.json()).toMatchObject({ running: true, url: ready.url, damaged_files: [], damaged_catalog: [] });
  for (const finding of doctor.json<{ ok: boolean }[]>()) expect(finding.ok).toBe(true);
  expect(limits.json<unknown[]>().length).toBeGreaterThan(0);
  expect(organizations.json()).toEqual([{ id: ready.organization_id }]);
  expect(unknown.code).toBe(3);
  expect((await cli.ok(['admin', 'repair', '--json', ...at])).json()).toEqual([]);
  const [audit, refused] = await Promise.all([
    cli.ok([
      'admin',
      'audit',
      '--json=action,organization,target_kind,target',
      '--organization',
      'My organization',
      ...at,
    ]),
    cli.run(['admin', 'status', '--profile', 'x', ...at]),
  ]);
  expect(audit.json()).toContainEqual(
    expect.objectContaining({
      organization: 'My organization',
      target_kind: 'part',
      target: expect.stringMatching(/^(.+)\/\1-main$/),
    }),
  );
  expect(refused).toMatchObject({ code: 2, stdout: '' });
});

test('a restored cloud ends at the position of the backup, and reports where positions continue', async () => {
  const [backup, target] = [join(cli.directory, 'backup'), join(cli.directory, 'restored')];
  const made = await cli.ok(['admin', 'backup', backup, '--with-instance-key', '--json', '--data', dataDir()]);
  const restored = await cli.ok(['admin', 'restore', backup, '--json', '--data', target]);
  const last = Number(made.json()['last_position']);
  expect(restored.json()).toMatchObject({ last_position: last, files: made.json()['files'] });
  expect(Number(restored.json()['goes_on_after'])).toBeGreaterThan(last);
  expect(restored.stderr).toContain('goes_on_after');
  expect(made.json()['damaged']).toEqual([]);
  // One at a time, because each takes the lock of the directory.
  const status = await cli.ok(['admin', 'status', '--json', '--data', target]);
  const shown = await cli.ok(['admin', 'status', '--data', target]);
  expect(status.json()).toMatchObject({ running: false, damaged_files: null });
  expect(shown.stdout).toMatch(/^damaged_files +unknown while the cloud is stopped; platform admin doctor --deep/m);

  {
    using log = new DatabaseSync(join(target, 'ingest.sqlite'));
    log.exec(`insert into blobs (path, part) values ('o/lost.jpg', 'p')`);
  }
  const without = await cli.run(['admin', 'backup', join(cli.directory, 'without'), '--json', '--data', target]);
  expect(without).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('1 damaged file. Repair it with platform admin repair'),
  });
  expect(without.json()).toMatchObject({ damaged: ['blobs/o/lost.jpg: it is missing'] });
});

test('D33 a damaged upload in a running cloud is restored from a backup, and the doctor then finds nothing wrong', async () => {
  const [backup, at] = [join(cli.directory, 'uploads'), ['--data', dataDir()]];
  await cli.ok(['admin', 'backup', backup, ...at]);
  let position = 0;
  {
    using log = new DatabaseSync(join(dataDir(), 'ingest.sqlite'), { timeout: 60_000 });
    position = Number(log.prepare('select min(position) as position from log').get()?.['position']);
    log.prepare('update log set batch = ? where position = ?').run(Uint8Array.of(0), position);
  }
  const doctor = await cli.run(['admin', 'doctor', '--deep', ...at]);
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('platform admin repair --from BACKUP') });
  const repair = ['admin', 'repair', '--from', backup, '--json=outcome,what', ...at];
  const what = `ingest log ${position}`;
  const dry = await cli.run(repair);
  expect(dry).toMatchObject({ code: 1, stderr: expect.stringContaining('Run it again with --apply to restore 1') });
  expect(dry.json()).toEqual([{ outcome: 'can be restored', what }]);
  expect((await cli.ok([...repair, '--apply'])).json()).toEqual([{ outcome: 'restored', what }]);
  await cli.ok(['admin', 'doctor', '--deep', ...at]);
  expect((await cli.ok([...repair, '--apply'])).json()).toEqual([]);
});

test('usage errors give exit code 2, say what to do, and change nothing; help gives exit code 0', async () => {
  const [command, option, argument, none, help, leaf, version] = await Promise.all([
    cli.run(['machine', 'lst'], { asProcess: true }),
    cli.run(['machines', 'list', '--jsn']),
    cli.run(['machines', 'get']),
    cli.run([]),
    cli.run(['help'], { asProcess: true }),
    cli.run(['config', 'edit', '--help']),
    cli.run(['version']),
  ]);
  for (const ran of [command, option, argument, none]) expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(command.stderr).toContain('Did you mean list?');
  expect(option.stderr).toContain('Did you mean --json?');
  expect(argument.stderr).toContain("missing required argument 'machine'");
  for (const ran of [help, leaf, version]) expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(leaf.stdout).toMatch(/^Usage: platform config edit.*Examples:.*JSON fields:.*Global options:.*Exit codes:/s);
});

test('completion: each shell gets its script, and typed text is completed', async () => {
  const [bash, zsh, fish, sub, third, unknown] = await Promise.all([
    cli.ok(['completion', 'bash']),
    cli.ok(['completion', 'zsh']),
    cli.ok(['completion', 'fish']),
    cli.ok(['complete', '--', 'config', 'hi']),
    cli.ok(['complete', '--', 'query', 'saved', '']),
    cli.run(['completion', 'tcsh']),
  ]);
  expect(zsh.stdout).toContain('#compdef platform');
  expect(fish.stdout).toContain('complete -c platform');
  expect(sub.stdout).toMatch(/^history\t/m);
  for (const name of ['list', 'get', 'create', 'update', 'delete', 'run']) expect(third.stdout).toContain(`${name}\t`);
  expect(unknown.code).toBe(2);
  const check = spawn('bash', ['-n'], { stdio: ['pipe', 'ignore', 'ignore'] });
  check.stdin.end(bash.stdout);
  expect(await once(check, 'close')).toEqual([0, null]);
});

test('a reader that closes the output early ends the command quietly', async () => {
  const shell = spawn(
    'bash',
    ['-c', `set -o pipefail; "$0" ${nodeFlags.join(' ')} "$1" config schema | head -c 10`, process.execPath, cliMain],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let complaints = '';
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  shell.stdout.resume();
  expect(await once(shell, 'close')).toEqual([0, null]);
  expect(complaints).toBe('');
});

// Last, because nothing can be queried afterwards.
test('a query beyond the limit that the host administrator set has exit code 6', async () => {
  const set = ['admin', 'limits', 'set', ready.organization_id, 'query-bytes-per-month', '1', '--data', dataDir()];
  await cli.ok(set);
  const month = (): number => new Date().getUTCMonth();
  const query = ['query', 'sql', 'SELECT component_name FROM readings'];
  const began = month();
  let refused = await cli.run(query);
  // If a new month began meanwhile, its bytes must be used up first.
  if (month() !== began) refused = await cli.run(query);
  expect(refused).toMatchObject({ code: 6, stdout: '' });
  expect(refused.stderr).toMatch(/^platform query sql: /);
});
