import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { PackageStatus_State, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect, test } from 'vitest';
import { startModuleMachine } from '../testing/module-machine.ts';
import { until } from '../testing/start-test-server.ts';
import { writeProgram, writeTestModule } from '../testing/write-module.ts';

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
