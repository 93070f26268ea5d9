/** Configuration, fragments and logs on the command line, with a machine-server that really starts from its credentials file. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChildProcess, spawnChild } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const machineMain = program('machine-server');
const cliMain = program('platform');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

let cloud: CloudProcess;
let cli: CommandLine;
let machine: ChildProcess;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  cli.secrets.add(cloud.key).add(cloud.partSecret);
  await cli.ok(['machines', 'create', 'press-7', '--location', cloud.locationId]);
  const file = await cli.ok(['machines', 'part', 'config-file', 'press-7'], { reveals: true });
  const credentials = file.json<{ cloud: { secret: string } }>();
  cli.secrets.add(credentials.cloud.secret);
  writeFileSync(path('platform.json'), file.stdout, { mode: 0o600 });
  machine = spawnChild(process.execPath, [...nodeFlags, machineMain, '-config', path('platform.json')], {
    env: { PLATFORM_HOME: path('machine') },
  });
});
afterAll(async () => {
  await machine?.kill('SIGTERM');
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

function path(name: string): string {
  return join(cli.directory, name);
}

function write(name: string, value: unknown): string {
  writeFileSync(path(name), typeof value === 'string' ? value : JSON.stringify(value));
  return name;
}

/** An editor program: the shell commands, with the file as $1. */
function editor(name: string, commands: string): Record<string, string> {
  writeFileSync(path(name), `#!/bin/sh\n${commands}\n`);
  chmodSync(path(name), 0o755);
  return { EDITOR: path(name) };
}

const sensor = { name: 'load', api: 'rdk:component:sensor', model: 'rdk:builtin:host-telemetry' };

test('settings that this installation cannot run or deliver give a warning with their path, on validation and on saving', async () => {
  await cli.ok(['machines', 'create', 'press-8', '--location', cloud.locationId]);
  const hook = { type: 'webhook', value: 'http://127.0.0.1:9/hook' };
  const document = {
    components: [{ name: 'probe', api: 'rdk:component:sensor', model: 'acme:sensors:probe' }],
    packages: [{ name: 'weights', package: `${cloud.organizationId}/weights`, type: 'ml_model', version: 'latest' }],
    triggers: [{ name: 'up', event: { type: 'part_online' }, notifications: [hook] }],
  };
  const file = write('cannot-run.json', document);
  const validated = await cli.ok(['config', 'validate', 'press-8', file, '--json']);
  expect(validated.json()).toEqual([
    { severity: 'warning', path: 'components[0].model', message: expect.stringContaining('"acme:sensors:probe"') },
    { severity: 'warning', path: 'packages[0].package', message: expect.stringContaining('has no ml_model package') },
    {
      severity: 'warning',
      path: 'triggers[0].notifications[0].value',
      message: expect.stringContaining('127.0.0.1 is loopback'),
    },
  ]);
  expect(validated.stderr).toContain('valid with 3 warnings');
  const set = await cli.ok(['config', 'set', 'press-8', file, '--yes']);
  for (const { path: at } of validated.json<{ path: string }[]>()) expect(set.stderr).toContain(`warning: ${at}: `);
});

test('D12 a capture without a data manager warns on validation and on saving; a capture whose name is no resource is an error', async () => {
  await cli.ok(['machines', 'create', 'press-9', '--location', cloud.locationId]);
  const capturing = (more: object): string => {
    const capture_methods = [{ method: 'Readings', capture_frequency_hz: 1, ...more }];
    const components = [{ ...sensor, service_configs: [{ type: 'data_manager', attributes: { capture_methods } }] }];
    return write('capturing.json', { components });
  };
  const at = 'components[0].service_configs[0].attributes.capture_methods';
  const validated = await cli.ok(['config', 'validate', 'press-9', capturing({})]);
  expect(validated.stderr).toContain('valid with 1 warning');
  expect(validated.stdout).toMatch(/Add it to services: /);
  const set = await cli.ok(['config', 'set', 'press-9', capturing({}), '--yes']);
  expect(set.stderr).toContain(`warning: ${at}: expected the service`);
  const refused = await cli.run([
    'config',
    'set',
    'press-9',
    capturing({ name: 'rdk:component:sensor/none' }),
    '--yes',
  ]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    `error: ${at}[0].name: expected the full name of a component or service, found "rdk:component:sensor/none"`,
  );
});

test('a configuration is set, edited, compared, restored; its versions are listed', async () => {
  const components = [sensor];
  const [set, invalid, noJson, noFile] = await Promise.all([
    cli.ok(['config', 'set', 'press-7', write('press.json', { components }), '--yes', '--json']),
    cli.run(['config', 'validate', 'press-7', write('wrong.json', { components: [{ ...sensor, name: 7 }] }), '--json']),
    cli.run(['config', 'validate', 'press-7', '-'], { input: '{"components":' }),
    cli.run(['config', 'set', 'press-7', 'absent.json', '--yes']),
  ]);
  expect(set.json()).toMatchObject({ version: 1, author_kind: 'api-key' });
  expect(invalid.code).toBe(2);
  expect(invalid.json()).toContainEqual({
    severity: 'error',
    path: expect.stringContaining('components'),
    message: expect.any(String),
  });
  expect(noJson.code).toBe(2);
  expect(noJson.stdout).toMatch(/^error +\$ +configuration: expected JSON/m);
  expect(noFile).toMatchObject({ code: 2, stdout: '' });
  expect(noFile.stderr).toContain('absent.json');
  const deep = `{"components":[{"name":"a","attributes":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}]}`;
  const tooDeep = await cli.run(['config', 'set', 'press-7', '-', '--yes'], { input: deep });
  expect(tooDeep.stderr).toMatch(/nested at most 30 levels deep.*\n.*the configuration has errors; nothing was saved/);
  expect(tooDeep.code).toBe(2);
  const twice = await cli.run(['config', 'set', 'press-7', '-', '--yes'], { input: '{"debug":true,"debug":false}' });
  expect(twice.stderr).toMatch(
    /debug: expected each key once, found it again \(line 1, column 15\).*\n.*nothing was saved/,
  );
  expect(twice.code).toBe(2);
  for (const bytes of [4_194_305, 17_000_000, 30_000_000]) {
    const input = `{"debug":true}${' '.repeat(bytes - 14)}`;
    const size = `expected at most 4194304 bytes of JSON, found ${bytes}; nothing was sent`;
    for (const command of [
      ['set', 'press-7', '-', '--yes'],
      ['validate', 'press-7', '-'],
    ]) {
      // The largest comes through a pipe.
      const tooLarge = await cli.run(['config', ...command], { input, asProcess: bytes === 30_000_000 });
      expect(tooLarge).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(size) });
    }
  }

  const edit = await cli.ok(['config', 'edit', 'press-7', '--yes', '--json=version'], {
    env: editor('rename', `sed -i 's/"load"/"host load"/' "$1"`),
  });
  expect(edit.json()).toEqual({ version: 2 });
  const [get, old, valid, diff, diffJson, history, nothing] = await Promise.all([
    cli.ok(['config', 'get', 'press-7']),
    cli.ok(['config', 'get', 'press-7', '--version', '1']),
    cli.ok(['config', 'validate', 'press-7']),
    cli.ok(['config', 'diff', 'press-7']),
    cli.ok(['config', 'diff', 'press-7', '0', '2', '--json']),
    cli.ok(['config', 'history', '--json', 'press-7']),
    cli.run(['config', 'edit', 'press-7', '--yes'], { env: { EDITOR: 'true' } }),
  ]);
  expect(get.json()).toMatchObject({ components: [{ name: 'host load' }] });
  expect(old.json()).toEqual({ components });
  expect(valid.stderr).toContain('valid (revision ');
  expect(diff.stdout).toContain('host load');
  expect(diffJson.json<unknown[]>().length).toBeGreaterThan(0);
  expect(history.json<{ version: number }[]>().map(({ version }) => version)).toEqual([2, 1]);
  expect(nothing).toMatchObject({ code: 0, stdout: '' });
  expect(nothing.stderr).toContain('nothing has changed; nothing was saved');

  const restore = await cli.ok(['config', 'restore', 'press-7', '1', '--yes', '--json=version,restored_from']);
  expect(restore.json()).toEqual({ version: 3, restored_from: 1 });
  const unknown = await cli.run(['config', 'restore', 'press-7', '9', '--yes']);
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
  expect(unknown.stderr).toContain(
    'expected one that the configuration of press-7 has (0 to 3), found 9. List them with: platform config history press-7',
  );
  const stale = await cli.run(['config', 'set', 'press-7', '-', '--if-version', '2', '--yes'], { input: '{}' });
  expect(stale).toMatchObject({ code: 5, stdout: '' });
  expect(stale.stderr).toContain('expected version 2 to be the current one, found 3');
});

test("someone else's save in between is a conflict, and the edit is kept", async () => {
  const other = write('other.json', { components: [{ ...sensor, name: 'other' }] });
  // While the editor is open, another command line saves.
  const platform = `"${process.execPath}" ${nodeFlags.join(' ')} "${cliMain}"`;
  const edit = await cli.run(['config', 'edit', 'press-7', '--yes'], {
    env: editor(
      'slow',
      `${platform} config set press-7 ${path(other)} --yes >/dev/null 2>&1; sed -i 's/"load"/"my edit"/' "$1"`,
    ),
  });
  expect(edit).toMatchObject({ code: 5, stdout: '' });
  const [, kept = ''] = /Your edit is kept in (\S+)/.exec(edit.stderr) ?? [];
  expect(existsSync(kept)).toBe(true);
  expect(readFileSync(kept, 'utf8')).toContain('my edit');
  const broken = await cli.run(['config', 'edit', 'press-7', '--yes'], { env: editor('break', `echo '{' > "$1"`) });
  expect(broken).toMatchObject({ code: 2, stdout: '' });
  expect(broken.stderr).toMatch(/expected JSON.*line 2, column 1: .*Your edit is kept in /s);
  const [, again = ''] = /save it with: (platform config set press-7 [^\s)]+)\)$/m.exec(broken.stderr) ?? [];
  expect(readFileSync(again.split(' ').at(-1) ?? '', 'utf8')).toBe('{\n');
  expect((await cli.ok(['config', 'get', 'press-7'])).json()).toMatchObject({ components: [{ name: 'other' }] });
});

test('a fragment is created, found by name and id, edited, tagged, used and deleted', async () => {
  const made = (
    await cli.ok(['fragments', 'create', 'host-kit', write('kit.json', { components: [sensor] }), '--json'])
  ).json<{ id: string; revision: string }>();
  await cli.ok(['fragments', 'tag', 'host-kit', 'stable']);
  await cli.ok(['fragments', 'edit', made.id, '--yes'], { env: editor('kit', `sed -i 's/"load"/"kit"/' "$1"`) });
  await cli.ok(['fragments', 'update', 'host-kit', '--visibility', 'unlisted', '--name', 'kit']);
  const using = { fragments: [{ id: made.id, version: 'stable' }] };
  await cli.ok(['config', 'set', 'press-7', write('using.json', using), '--yes']);
  const [list, tagged, newest, history, usage, effective, inUse] = await Promise.all([
    cli.ok(['fragments', 'list', '--json=id,name,visibility,parts']),
    cli.ok(['fragments', 'get', 'kit', '--version', 'stable']),
    cli.ok(['fragments', 'get', made.id, '--json']),
    cli.ok(['fragments', 'history', 'kit', '--json']),
    cli.ok(['fragments', 'usage', 'kit', '--json']),
    cli.ok(['config', 'get', 'press-7', '--effective']),
    cli.run(['fragments', 'delete', 'kit', '--yes']),
  ]);
  expect(list.json()).toEqual([{ id: made.id, name: 'kit', visibility: 'unlisted', parts: 1 }]);
  expect(tagged.json()).toMatchObject({ components: [{ name: 'load' }] });
  expect(newest.json()).toMatchObject({ name: 'kit', config: { components: [{ name: 'kit' }] } });
  expect(history.json<unknown[]>().length).toBeGreaterThanOrEqual(2);
  expect(usage.json<unknown[]>().length).toBeGreaterThan(0);
  expect(effective.json()).toMatchObject({ components: [{ name: 'load' }] });
  expect(inUse).toMatchObject({ code: 5, stdout: '' });
  await cli.ok(['config', 'set', 'press-7', write('press.json', { components: [sensor] }), '--yes']);
  await cli.ok(['fragments', 'untag', 'kit', 'stable']);
  await cli.ok(['fragments', 'delete', 'kit', '--yes']);
});

test('a machine-server started with the config-file applies the configuration, and its log is filtered and followed', async () => {
  await machine.waitForLine((line) => line['msg'] === 'configuration applied');
  const follow = cli.startProcess(['logs', 'press-7', '--follow', '--json=level,message']);
  await follow.matching('stdout', /"message":/);
  const grep = ['logs', 'press-7', '--grep', '/configur/', '--level', 'info,warn,error', '--since', '1h', '--json'];
  // Lines arrive with a delay.
  while ((await cli.ok(grep)).stdout === '');
  const [status, filtered, none, wrong] = await Promise.all([
    cli.ok(['machines', 'part', 'status', 'press-7', '--json=state,saved_version,last_error']),
    cli.ok(grep),
    cli.ok(['logs', 'press-7', '--until', '1h']),
    cli.run(['logs', 'press-7', '--since', 'yesterday']),
  ]);
  expect(status.json()).toMatchObject({ state: 'online', last_error: null });
  const lines = filtered.stdout.trim().split('\n');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ message: expect.stringContaining('configur') });
  expect(none.stdout).toBe('');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  follow.child.kill('SIGINT');
  expect((await follow.ended).code).toBe(130);
});
