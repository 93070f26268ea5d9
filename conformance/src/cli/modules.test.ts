/** The guide of modules: its commands as printed and its programs, against a real cloud and a real machine-server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChildProcess, spawnChild } from '@platform/testkit';
import { expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';
import { commandsIn } from '../../../tools/check-commands.ts';
import { startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const guide = readFileSync(fileURLToPath(new URL('../../../docs/guides/modules.md', import.meta.url)), 'utf8');
const machineMain = program('machine-server');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

/** The blocks of a language, in order. */
function blocksOf(language: string): string[] {
  const blocks = guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, text = '']) => text);
}

const printed = commandsIn(guide)
  .filter(({ isWhole }) => isWhole)
  .map(({ words }) => words.slice(1));

function startMachine(home: string, configFile: string): ChildProcess {
  return spawnChild(process.execPath, [...nodeFlags, machineMain, '-config', configFile], {
    env: { PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
}

/** Each is a command, which takes tens of milliseconds of processor time. */
const poll = { interval: 300 };

interface Configuration {
  components?: { name: string; attributes?: object }[];
  services?: object[];
}

test('following the guide gives a captured sensor, a change to it, and an archive that can be uploaded', async () => {
  await using cloud = await startCloud();
  await using cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  const { partId: id, partSecret: secret, url } = cloud;
  const file = (name: string): string => join(cli.directory, name);
  writeFileSync(
    file('machine.json'),
    JSON.stringify({ cloud: { id, secret, app_address: url, refresh_interval: '1s' } }),
  );
  // Ends before its files are removed.
  await using _machine = startMachine(file('machine'), file('machine.json'));
  const run = (words: readonly string[]) => cli.ok(words.map((word) => (word === 'vm' ? id : word)));
  const next = printed[Symbol.iterator]();
  const step = async (expected: string): Promise<string> => {
    const words = next.next().value ?? [];
    expect(words.join(' ')).toMatch(expected);
    return (await run(words)).stdout;
  };
  // As on the page: fetches the file where the page does, so that an old file would also give an old build here.
  const fetched = async (): Promise<void> => writeFileSync(file('vm.json'), await step('config get'));
  const modules = async (): Promise<unknown> =>
    JSON.parse((await run(['machines', 'part', 'modules', 'vm', '--json'])).stdout) as unknown;
  const edit = (change: (document: Configuration) => void): void => {
    const document = JSON.parse(readFileSync(file('vm.json'), 'utf8')) as Configuration;
    change(document);
    writeFileSync(file('vm.json'), JSON.stringify(document));
  };

  await step('modules create my-sensor');
  const program = file('my-sensor/my-sensor.ts');
  const [first = '', second = ''] = blocksOf('ts');
  expect(readFileSync(program, 'utf8')).toBe(first);
  await step('modules reload');
  await fetched();
  const [component = '{}'] = blocksOf('json');
  edit((document) => {
    document.components = [...(document.components ?? []), JSON.parse(component)];
    document.services ??= [{ name: 'data', api: 'core:service:data_manager', model: 'builtin' }];
  });
  await step('config set');
  const query = next.next().value ?? [];
  await expect.poll(async () => (await run([...query, '--json'])).stdout, poll).toMatch(/"load": ?\d/);
  await step('logs');
  const logs = async () => (await run(['logs', 'vm'])).stdout;
  await expect.poll(logs, poll).toMatch(/my-sensor\.core:component:sensor\/load +started/);

  writeFileSync(program, second);
  await step('modules reload');
  await expect.poll(logs, poll).toContain('attributes.path: expected the name of a file, found nothing');
  await fetched();
  edit((document) => {
    for (const one of document.components ?? []) if (one.name === 'load') one.attributes = { path: '/proc/loadavg' };
  });
  await run(['config', 'set', 'vm', 'vm.json', '--yes']);
  const values = query.map((word) => word.replaceAll('data.readings.load AS load', 'data.readings.value AS value'));
  await expect.poll(async () => (await run([...values, '--json'])).stdout, poll).toMatch(/"value": ?\d/);

  expect((next.next().value ?? []).join(' ')).toMatch('--address');
  await step('modules build');
  await step('modules upload');
  expect(next.next().done).toBe(true);

  expect(await modules()).toEqual([
    { name: 'my-sensor', version: '0.1.0', state: 'ready', failures: 0, problem: null },
  ]);
  const install = async (version: string): Promise<void> => {
    const { stdout } = await run(['config', 'get', 'vm']);
    const entry = { type: 'registry', name: 'my-sensor', module_id: `${cloud.organizationId}:my-sensor`, version };
    writeFileSync(file('vm.json'), JSON.stringify({ ...(JSON.parse(stdout) as object), modules: [entry] }));
    await run(['config', 'set', 'vm', 'vm.json', '--yes']);
  };
  await install('0.1.0');
  const isApplied = async (): Promise<boolean> => {
    const { stdout } = await run(['machines', 'part', 'status', 'vm', '--json']);
    const { saved_revision: saved, applied_revision: applied } = JSON.parse(stdout) as Record<string, string | null>;
    return saved === applied;
  };
  // The module that was built here has the same version.
  await expect.poll(isApplied, poll).toBe(true);
  await expect
    .poll(modules, poll)
    .toMatchObject([{ name: 'my-sensor', version: '0.1.0', state: 'ready', problem: null }]);
  await install('7.0.0');
  const problem = expect.stringMatching(/^runs 0\.1\.0, not 7\.0\.0: expected a version of module package "my-sensor"/);
  await expect.poll(modules, poll).toMatchObject([{ version: '0.1.0', state: 'ready', problem }]);
  expect((await run(['machines', 'part', 'status', 'vm', '--json'])).stdout).toContain('found \\"7.0.0\\"');
  await run(['modules', 'upload', 'my-sensor/dist/module.tar.gz', '--version', '7.0.0']);
  await expect.poll(modules, poll).toMatchObject([{ version: '7.0.0', state: 'ready', problem: null }]);
});

test('reload --address builds the folder and restarts the module of a machine with a local configuration', async () => {
  await using cli: CommandLine = await openCommandLine();
  await cli.ok(['modules', 'create', 'my-sensor', '--namespace', 'acme'], { asProcess: true });
  const folder = join(cli.directory, 'my-sensor');
  const configuration = {
    modules: [{ name: 'my-sensor', type: 'local', executable_path: join(folder, 'dist', 'module', 'run.sh') }],
    components: [{ name: 'load', api: 'core:component:sensor', model: 'acme:my-sensor:load' }],
  };
  const file = join(cli.directory, 'machine.json');
  writeFileSync(file, JSON.stringify(configuration));
  // Before the first build there is no program; the machine-server tries again.
  await using machine = startMachine(join(cli.directory, 'machine'), file);
  const { address } = await machine.waitForLine(({ msg }) => msg === 'serving');
  const reload = ['modules', 'reload', 'my-sensor', '--address', String(address), '--json'];
  expect((await cli.ok(reload)).json()).toMatchObject({
    ...{ name: 'my-sensor', state: 'restarted', models: ['acme:my-sensor:load'], error: null },
  });
  // It is ready when the command ends.
  await machine.waitForLine(
    ({ logger, msg }) => logger === 'modules.my-sensor.core:component:sensor/load' && msg === 'started',
  );
  const program = readFileSync(join(folder, 'my-sensor.ts'), 'utf8');
  // The machine-server runs modules in the folder of their program, and the build does not.
  writeFileSync(
    join(folder, 'my-sensor.ts'),
    `if (process.cwd() === ${JSON.stringify(join(folder, 'dist', 'module'))}) process.exit(3);\n${program}`,
  );
  const broken = await cli.run(reload);
  expect([broken.code, broken.stderr]).toEqual([5, expect.stringContaining('was restarted, but does not run')]);
  writeFileSync(join(folder, 'my-sensor.ts'), program);
  await cli.ok(reload);
  const other = await cli.run([...reload.slice(0, -1), '--name', 'other']);
  expect([other.code, other.stderr]).toEqual([3, expect.stringContaining('found "other"')]);
  const neither = await cli.run(['modules', 'reload', 'my-sensor']);
  expect([neither.code, neither.stderr]).toEqual([2, expect.stringContaining('expected --part')]);
  const wrong = await cli.run(['modules', 'reload', 'my-sensor', '--address', 'here']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--address: expected host:port')]);
});
