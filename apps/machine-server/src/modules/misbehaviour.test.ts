import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { expect, test } from 'vitest';
import { isRunning } from '../testing/is-running.ts';
import { type ModuleMachine, startModuleMachine } from '../testing/modules/module-machine.ts';
import { writeOddModule, writeProgram, writeTestModule } from '../testing/modules/write-module.ts';
import { until } from '../testing/start-test-server.ts';

const counter = { name: 'c', api: 'core:component:sensor', model: 'acme:demo:counter', attributes: { greeting: 'hi' } };
const fake = { name: 'tank', api: 'core:component:sensor', model: 'fake', attributes: { readings: { level: 7 } } };
const stateOf = (machine: ModuleMachine, name: string) =>
  machine.server.modules.status().find(({ module }) => module.name === name);
const errorOf = (machine: ModuleMachine, name: string): string => stateOf(machine, name)?.error ?? '';

test('modules that hang, exit, crash, write endlessly or speak another protocol are reported by name, and affect nothing else', async () => {
  await using machine = await startModuleMachine({ env: { PLATFORM_MODULE_STARTUP_TIMEOUT: '5s' } });
  const { home } = machine;
  const program = (name: string, script: string): Promise<string> => writeProgram(home, `${name}.sh`, script);
  const programs: Readonly<Record<string, string>> = {
    hangs: await program('hangs', 'exec sleep 1000'),
    exits: await program('exits', 'exit 0'),
    crashes: await program('crashes', 'echo "no bus found" >&2; kill -SEGV $$'),
    floods: await program('floods', 'exec seq 1 1000000000'),
    absent: join(home, 'absent.sh'),
    'not-executable': await program('not-executable', 'exit 0'),
    'no-program': await program('no-program', ''),
    junk: await writeOddModule(home, 'junk'),
    'other-protocol': await writeOddModule(home, 'other-protocol'),
    'never-ready': await writeOddModule(home, 'never-ready'),
    nonsense: await writeOddModule(home, 'nonsense'),
    good: await writeTestModule(home),
  };
  await chmod(join(home, 'not-executable.sh'), 0o600);
  const marker = join(home, 'run-by-a-shell');
  await writeFile(join(home, 'no-program.sh'), `touch ${marker}\n`);
  const modules = Object.entries(programs).map(([name, executable_path]) => ({ name, executable_path }));
  machine.configure({ modules, components: [counter, fake] });
  await until('the good one', () => machine.statusOf('c')?.state === 'ready');
  const expected: Readonly<Record<string, RegExp>> = {
    hangs:
      /^it could not be started: it was not ready within 5000 ms \(PLATFORM_MODULE_STARTUP_TIMEOUT\): the module "hangs" cannot be reached/,
    exits: /^it could not be started: it ended with exit code 0 before it was ready$/,
    crashes: /^it could not be started: it was ended by SIGSEGV before it was ready$/,
    floods: /^it could not be started: it was not ready within 5000 ms/,
    absent: /^it could not be started: expected a program at .*absent.sh, found no such file/,
    'not-executable':
      /^it could not be started: expected a program at .*not-executable.sh, it may not be executed: make/,
    'no-program':
      /^it could not be started: expected a program at .*no-program.sh, it is not a program for this computer/,
    'other-protocol':
      /^it could not be started: expected an answer of viam.module.v1.ModuleService\/Ready, found UNIMPLEMENTED/,
    'never-ready': /it answered that it was not ready$/,
    nonsense:
      /^it could not be started: its answer to Ready: handlers\[0\].subtype: expected a type such as rdk:component:sensor, found "::"$/,
    junk: /^it could not be started: .*(Ready|within)/,
  };
  for (const [name, error] of Object.entries(expected)) await until(name, () => error.test(errorOf(machine, name)));
  await until('a crash loop', () => (stateOf(machine, 'crashes')?.failures ?? 0) >= 3);
  await machine.logged(/modules.crashes no bus found/);
  expect(machine.log().split('module "crashes": it could not be started'), 'told once').toHaveLength(2);
  await machine.logged(/modules.floods \d+ lines of this module were dropped: it wrote more than 500 in a second/);
  expect(statSync(marker, { throwIfNoEntry: false })).toBeUndefined();
  // 500 lines a second for each start, and the other lines.
  expect(statSync(join(home, 'log')).size).toBeLessThan(5_000_000);

  const sensors = machine.link.client(SensorService);
  expect((await sensors.getReadings({ name: 'tank' })).readings['level']?.kind.value).toBe(7);
  expect((await sensors.getReadings({ name: 'c' })).readings['greeting']?.kind.value).toBe('hi');
  await until('the report to the cloud', () =>
    (machine.cloud.reports ?? []).some(({ lastError }) => lastError.includes('module "nonsense": it could not')),
  );
});

test('a resource that never answers blocks only its own calls; its module and its children end when the machine stops', async () => {
  const machine = await startModuleMachine();
  const child = join(machine.home, 'child');
  const start = await writeTestModule(machine.home);
  const path = await writeProgram(machine.home, 'with-child.sh', `sleep 1000 & echo $! > ${child}\nexec ${start} "$@"`);
  machine.configure({ modules: [{ name: 'demo', executable_path: path }], components: [counter, fake] });
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  const sensors = machine.link.client(SensorService);
  const hanging = sensors.doCommand({ name: 'c', command: { hang: true } }, { timeoutMs: 200 });
  await expect(hanging).rejects.toMatchObject({ code: 'deadline_exceeded' });
  expect((await sensors.getReadings({ name: 'c' })).readings['greeting']?.kind.value).toBe('hi');
  const pid = Number(await readFile(child, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  await machine[Symbol.asyncDispose]();
  await until('the end of the child', () => !isRunning(pid));
});

test('an answer above the message limit is refused with module, method, size and limit; the module and others continue', async () => {
  await using machine = await startModuleMachine();
  const modules = [{ name: 'demo', executable_path: await writeTestModule(machine.home) }];
  machine.configure({ modules, components: [counter, fake] });
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  const sensors = machine.link.client(SensorService);
  const pidOf = async () => (await sensors.getReadings({ name: 'c' })).readings['pid']?.kind.value;
  const pid = await pidOf();
  const limit = 32 * 1024 * 1024;
  const asked = [limit + 1, 2 * limit].map((bytes) =>
    sensors.doCommand({ name: 'c', command: { answer_bytes: bytes } }).catch((caught: unknown) => caught),
  );
  for (const refused of await Promise.all(asked)) {
    expect(refused).toMatchObject({ code: 'resource_exhausted' });
    expect(String(refused)).toMatch(
      /SensorService\/DoCommand: expected a message of at most 33554432 bytes .*the module "demo", found one of \d{8} bytes/,
    );
  }
  const { result } = await sensors.doCommand({ name: 'c', command: { answer_bytes: limit / 4 } });
  expect(String(result?.['text'])).toHaveLength(limit / 4);
  expect((await sensors.getReadings({ name: 'tank' })).readings['level']?.kind.value).toBe(7);
  expect(await pidOf()).toBe(pid);
});

test('-untrusted-env starts no local modules, and reports which', async () => {
  await using machine = await startModuleMachine({ args: ['-untrusted-env'] });
  const marker = join(machine.home, 'started');
  const executable_path = await writeProgram(machine.home, 'module.sh', `touch ${marker}`);
  machine.configure({ modules: [{ name: 'demo', executable_path }], components: [counter] });
  const refusal = '-untrusted-env does not allow local modules';
  await until(
    'the refusal',
    () => machine.statusOf('c')?.error.endsWith('that is not running: module "demo"') === true,
  );
  expect(errorOf(machine, 'demo')).toBe(refusal);
  await machine.logged(`module "demo" is not started: ${refusal}`);
  expect(statSync(marker, { throwIfNoEntry: false })).toBeUndefined();
});

test('the first-run script runs once before the module, is retried while it fails, and has a time limit', async () => {
  await using machine = await startModuleMachine();
  const folder = join(machine.home, 'mod');
  const executable_path = await writeTestModule(folder);
  const runs = join(machine.home, 'runs');
  await writeProgram(folder, 'setup.sh', `echo run >> ${runs}; echo preparing $PLATFORM_MODULE_NAME; exit 4`);
  await writeFile(join(folder, 'meta.json'), JSON.stringify({ first_run: './setup.sh' }));
  const module: JsonObject = { name: 'demo', executable_path };
  machine.configure({ modules: [module], components: [counter] });
  await until('the failure', () => errorOf(machine, 'demo').endsWith('setup.sh: it ended with exit code 4'));
  await machine.logged('modules.demo preparing demo');
  await writeProgram(folder, 'setup.sh', `echo fine >> ${runs}`);
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  machine.server.modules.restart('demo');
  await until('the restart', () => machine.log().split('module "demo" is ready').length === 3);
  expect((await readFile(runs, 'utf8')).split('fine')).toHaveLength(2);
  await writeProgram(folder, 'setup.sh', 'exec sleep 1000');
  machine.configure({ modules: [{ ...module, first_run_timeout: '300ms' }], components: [counter] });
  await until('the limit', () => errorOf(machine, 'demo').endsWith('did not end within 300 ms (first_run_timeout)'));
  await writeFile(join(folder, 'meta.json'), JSON.stringify({ first_run: '../setup.sh' }));
  await until('a path outside', () => errorOf(machine, 'demo').includes('expected a path in '));
});

test('a local archive is unpacked and its entrypoint started; a restart uses a new one; a missing entrypoint is reported', async () => {
  await using machine = await startModuleMachine();
  const folder = join(machine.home, 'mod');
  await writeTestModule(join(folder, 'bin'));
  const archive = join(machine.home, 'mod.tar.gz');
  const pack = async (meta: object): Promise<void> => {
    await writeFile(join(folder, 'meta.json'), JSON.stringify(meta));
    execFileSync('tar', ['-czf', archive, '-C', folder, '.']);
  };
  await pack({ first_run: 'none.sh' });
  machine.configure({ modules: [{ name: 'demo', executable_path: archive }], components: [counter] });
  const missing = `it could not be started: expected a meta.json with an entrypoint in the archive ${archive}, found none`;
  await until('the refusal', () => errorOf(machine, 'demo') === missing);
  await pack({ entrypoint: './bin/module.sh' });
  machine.server.modules.restart('demo');
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
});

test('modules without a valid name, and a second module of the same name, are reported', async () => {
  await using machine = await startModuleMachine();
  const executable_path = await writeTestModule(machine.home);
  const modules = ['a/b', 'parent', 'demo', 'demo'].map((name) => ({ name, executable_path }));
  machine.configure({ modules, components: [counter] });
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  await machine.logged('expected letters, digits, "_", "-" and ".", and not "parent", found "a/b": it is not started');
  await machine.logged('and not "parent", found "parent": it is not started');
  expect(machine.server.modules.status()).toHaveLength(1);
});
