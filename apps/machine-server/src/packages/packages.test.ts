import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import {
  type ModuleStatus,
  ModuleStatus_State,
  PackageStatus_State,
  RobotService,
} from '@platform/proto/platform/robot/v1/robot';
import { expect, test } from 'vitest';
import { type ModuleMachine, startModuleMachine } from '../testing/modules/module-machine.ts';
import { writeProgram, writeTestModule } from '../testing/modules/write-module.ts';
import { until } from '../testing/start-test-server.ts';

const counter = (attributes: JsonObject): JsonObject => ({
  ...{ name: 'c', api: 'core:component:sensor', model: 'acme:demo:counter', attributes },
});

/** The configuration in which the cloud serves a registry module. */
const served = (version: string): JsonObject => ({
  modules: [
    {
      ...{ name: 'demo', type: 'registry', module_id: 'acme:demo', version },
      executable_path: `\${packages.module.synthetic-demo}/run.sh`,
    },
  ],
  packages: [{ name: 'synthetic-demo', package: 'acme/demo', version, type: 'module' }],
});

test('a registry module is downloaded, checked, unpacked, prepared once per version and started; its old version is replaced', async () => {
  await using machine = await startModuleMachine();
  const source = join(machine.home, 'source');
  await writeTestModule(join(source, 'bin'));
  const runs = join(machine.home, 'runs');
  await writeProgram(source, 'setup.sh', `echo $PLATFORM_MODULE_ROOT >> ${runs}`);
  await writeFile(join(source, 'meta.json'), JSON.stringify({ entrypoint: 'bin/module.sh', first_run: 'setup.sh' }));
  const archive = (): Buffer => execFileSync('tar', ['-czC', source, '.']);
  machine.cloud.packages.set('acme/demo 1.0.0', archive());
  machine.cloud.packageChecksum = '0'.repeat(64);
  const greeting = `\${packages.synthetic-demo}`;
  machine.configure({ ...served('1.0.0'), components: [counter({ greeting })] });
  const errors = (): string => machine.server.modules.errors();
  await until('the wrong checksum', () => errors().includes('expected the file with SHA-256 000'));
  expect(machine.statusOf('c')?.error).toContain('module "demo"');
  machine.cloud.packageChecksum = '';
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  const folder = join(machine.home, 'packages', 'module', 'acme%2Fdemo-1.0.0');
  const { readings } = await machine.link.client(SensorService).getReadings({ name: 'c' });
  expect(readings['greeting']?.kind.value).toBe(folder);
  expect(await readFile(runs, 'utf8')).toBe(`${folder}\n`);
  const { packages } = await machine.link.client(RobotService).getMachineStatus({});
  expect(packages).toMatchObject([{ name: 'synthetic-demo', version: '1.0.0', state: PackageStatus_State.READY }]);

  await writeFile(join(source, 'new'), 'in the new version');
  machine.cloud.packages.set('acme/demo 1.1.0', archive());
  machine.configure({ ...served('1.1.0'), components: [counter({ greeting })] });
  await until('the new version', async () => (await readFile(runs, 'utf8')).split('\n').length === 3);
  await until('the sensor of the new version', () => machine.statusOf('c')?.state === 'ready');
  expect(existsSync(join(machine.home, 'packages', 'module', 'acme%2Fdemo-1.1.0', 'new'))).toBe(true);
  expect(readdirSync(join(machine.home, 'packages', '.unfinished'))).toEqual([]);
});

test('a package that the cloud does not have is reported, and the rest of the machine runs', async () => {
  await using machine = await startModuleMachine();
  const components = [{ name: 'tank', api: 'core:component:sensor', model: 'fake' }];
  machine.configure({ ...served('7.0.0'), components });
  await until('the reason', () => machine.server.modules.errors().includes('no package acme/demo 7.0.0'));
  await until('the sensor', () => machine.statusOf('tank')?.state === 'ready');
  await until('the report to the cloud', () =>
    (machine.cloud.reports ?? []).some(({ lastError }) =>
      lastError.includes('package "synthetic-demo": no package acme/demo'),
    ),
  );
});

/** As the cloud serves a version that it does not have. */
const notServed = (version: string, error: string): JsonObject => {
  const { modules, packages } = served(version) as { modules: JsonObject[]; packages: JsonObject[] };
  // It does not know the program of that version either.
  const executable_path = `\${packages.module.synthetic-demo}/other.sh`;
  return {
    modules: modules.map((each) => ({ ...each, executable_path })),
    packages: packages.map((each) => ({ ...each, status: { error } })),
  };
};

/** The archive of a module with the program of the tests, without a meta.json. */
async function archiveIn(home: string): Promise<Buffer> {
  const source = join(home, 'source');
  await rename(await writeTestModule(source), join(source, 'run.sh'));
  return execFileSync('tar', ['-czC', source, '.']);
}

async function processOf({ link }: ModuleMachine): Promise<unknown> {
  const answer = await link.client(SensorService).getReadings({ name: 'c' });
  return answer.readings['pid']?.kind.value;
}

async function moduleOf({ link }: ModuleMachine): Promise<Partial<ModuleStatus> | undefined> {
  return (await link.client(RobotService).getMachineStatus({})).modules[0];
}

test.each([
  {
    what: 'that the cloud does not have',
    reason: 'expected a version of module package "demo" (1.0.0), found "7.0.0"',
    wanted: (version: string, reason: string): JsonObject => notServed(version, reason),
  },
  {
    what: 'that the cloud refuses',
    reason: 'no package acme/demo 7.0.0',
  },
  {
    what: 'whose archive is damaged',
    reason: 'expected the file with SHA-256 000',
    spoil: async ({ cloud }: ModuleMachine, archive: Buffer): Promise<void> => {
      cloud.packages.set('acme/demo 7.0.0', archive);
      cloud.packageChecksum = '0'.repeat(64);
    },
  },
  {
    what: 'that cannot be written',
    reason: 'not a directory',
    spoil: async ({ cloud, home }: ModuleMachine, archive: Buffer): Promise<void> => {
      cloud.packages.set('acme/demo 7.0.0', archive);
      await rm(join(home, 'packages', '.unfinished'), { recursive: true });
      await writeFile(join(home, 'packages', '.unfinished'), '');
    },
  },
])(
  'a version of a module $what does not end the running one; the status says why, and it heals by itself',
  async ({ reason, wanted = served, spoil }) => {
    await using machine = await startModuleMachine();
    const archive = await archiveIn(machine.home);
    machine.cloud.packages.set('acme/demo 1.0.0', archive);
    const components = [counter({ greeting: 'hi' })];
    machine.configure({ ...served('1.0.0'), components });
    await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
    const pid = await processOf(machine);
    expect(await moduleOf(machine)).toMatchObject({ version: '1.0.0', warning: '' });

    await spoil?.(machine, archive);
    machine.configure({ ...wanted('7.0.0', reason), components });
    await until('the reason', async () => (await moduleOf(machine))?.warning?.includes(reason) === true);
    expect(await moduleOf(machine)).toMatchObject({
      ...{ state: ModuleStatus_State.READY, error: '', version: '1.0.0' },
      warning: expect.stringMatching(/^runs 1\.0\.0, not 7\.0\.0: /),
    });
    await until('the report to the cloud', () =>
      (machine.cloud.reports ?? []).some(({ lastError }) => lastError.includes(reason)),
    );
    // Another edit that the module has to follow meanwhile.
    machine.configure({ ...wanted('7.0.0', reason), components: [counter({ greeting: 'ho' })] });
    await until('the edit', async () => {
      const { readings } = await machine.link.client(SensorService).getReadings({ name: 'c' });
      return readings['greeting']?.kind.value === 'ho';
    });
    expect(await processOf(machine), 'the running version').toBe(pid);

    machine.cloud.packageChecksum = '';
    await rm(join(machine.home, 'packages', '.unfinished'), { recursive: true, force: true });
    machine.cloud.packages.set('acme/demo 7.0.0', archive);
    machine.configure({ ...served('7.0.0'), components });
    await until('the new version', async () => (await moduleOf(machine))?.version === '7.0.0');
    await until('its sensor', () => machine.statusOf('c')?.state === 'ready');
    expect(await processOf(machine)).not.toBe(pid);
    expect(await moduleOf(machine)).toMatchObject({ state: ModuleStatus_State.READY, error: '', warning: '' });
  },
);

test('a restart of the server starts the version that ran, while the configured one cannot be fetched', async () => {
  await using machine = await startModuleMachine();
  machine.cloud.packages.set('acme/demo 1.0.0', await archiveIn(machine.home));
  const components = [counter({ greeting: 'hi' })];
  machine.configure({ ...served('1.0.0'), components });
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  machine.configure({ ...served('7.0.0'), components });
  await until('the reason', async () => (await moduleOf(machine))?.warning?.includes('no package') === true);
  await machine.restart();
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  expect(await moduleOf(machine)).toMatchObject({ state: ModuleStatus_State.READY, version: '1.0.0' });
  expect((await moduleOf(machine))?.warning).toContain('no package acme/demo 7.0.0');
});
