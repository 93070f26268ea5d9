import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { expect, onTestFinished, test } from 'vitest';
import { type DrivenModule, driveModule, startTestParent, type TestParent } from './testing/test-parent.ts';

const entry = join(import.meta.dirname, 'testing', 'example-module.ts');
const sensorApi = 'rdk:component:sensor';

async function start(args: readonly string[] = []): Promise<{ parent: TestParent; module: DrivenModule }> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const parent = stack.use(await startTestParent());
  const module = stack.use(driveModule(parent, entry, args));
  return { parent, module };
}

test('a module goes through Ready, validation, add, readings, reconfiguration and removal, and ends with exit code 0 on SIGTERM', async () => {
  const { parent, module } = await start();
  const { handlermap } = await module.ready();
  expect(handlermap?.handlers.map(({ subtype, models }) => [subtype?.protoService, models])).toEqual([
    ['platform.component.sensor.v1.SensorService', ['acme:examples:counter', 'acme:examples:doubled']],
    ['acme.component.greenhouse.v1.GreenhouseService', ['acme:examples:glass']],
    ['platform.component.motor.v1.MotorService', ['acme:examples:fan', 'acme:examples:broken']],
  ]);
  expect(handlermap?.handlers[0]?.subtype?.subtype).toMatchObject({ namespace: 'core', subtype: 'sensor' });

  const { protocol } = module;
  const config = { api: sensorApi, model: 'acme:examples:counter', name: 'steps', attributes: { step: 2 } };
  await expect(protocol.validateConfig({ config: { ...config, attributes: { step: 'x' } } })).rejects.toMatchObject({
    ...{ code: 'invalid_argument', message: 'attributes.step: expected a number, found "x"' },
  });
  expect(await protocol.validateConfig({ config })).toMatchObject({ dependencies: [], optionalDependencies: [] });
  await protocol.addResource({ config, dependencies: [] });
  await expect(protocol.addResource({ config, dependencies: [] })).rejects.toMatchObject({ code: 'already_exists' });

  const readings = async () => (await module.client(SensorService).getReadings({ name: 'steps' })).readings;
  const count = async () => (await readings())['count']?.kind.value;
  expect(await count()).toBe(2);
  expect(await readings()).toMatchObject({
    module: { kind: { value: 'examples' } },
    directory: { kind: { value: '/data/examples' } },
  });
  // In place: it keeps its count.
  await protocol.reconfigureResource({ config: { ...config, attributes: { step: 100 } }, dependencies: [] });
  expect(await count()).toBe(104);

  await protocol.removeResource({ name: 'rdk:component:sensor/steps' });
  await expect(readings()).rejects.toMatchObject({ code: 'not_found', message: 'this module has no sensor "steps"' });
  await expect
    .poll(() => parent.lines)
    .toContainEqual({ level: 'warn', logger: 'examples.core:component:sensor/steps', message: 'closed' });

  expect(await module.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(existsSync(module.socket)).toBe(false);
});

test('resources that still run are closed when the module is stopped, and their last lines reach the machine-server', async () => {
  const { parent, module } = await start();
  await module.ready();
  await module.add(sensorApi, 'acme:examples:counter', 'steps', { step: 1 });
  expect(await module.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(parent.lines).toContainEqual({
    level: 'warn',
    logger: 'examples.core:component:sensor/steps',
    message: 'closed',
  });
});

test('a dependency is called through the machine-server, and an optional one may be absent', async () => {
  const { module } = await start();
  await module.ready();
  const config = { api: sensorApi, model: 'acme:examples:doubled', name: 'twice', attributes: { of: 'water' } };
  expect(await module.protocol.validateConfig({ config })).toMatchObject({
    ...{ dependencies: ['water'], optionalDependencies: ['fan'] },
  });
  await expect(module.protocol.addResource({ config, dependencies: [] })).rejects.toThrow(
    'dependencies: expected a core:component:sensor "water", found none',
  );
  await module.protocol.addResource({ config, dependencies: ['rdk:component:sensor/water'] });
  const { readings } = await module.client(SensorService).getReadings({ name: 'twice' });
  expect(readings).toMatchObject({ value: { kind: { value: 42 } }, fan: { kind: { value: false } } });

  await module.protocol.reconfigureResource({
    ...{ config, dependencies: ['rdk:component:sensor/water', 'rdk:component:motor/fan'] },
  });
  const again = await module.client(SensorService).getReadings({ name: 'twice' });
  expect(again.readings).toMatchObject({ fan: { kind: { value: true } } });
});

test('--log-level sets the level of the module, log_configuration that of a resource', async () => {
  const { parent, module } = await start(['--log-level=warning', '--tcp-mode']);
  await module.ready();
  const config = { api: sensorApi, model: 'acme:examples:counter', attributes: { step: 1 } };
  await module.protocol.addResource({ config: { ...config, name: 'quiet' } });
  await module.protocol.addResource({ config: { ...config, name: 'loud', logConfiguration: { level: 'DEBUG' } } });
  await expect
    .poll(() => parent.lines)
    .toContainEqual({ level: 'debug', logger: 'examples.core:component:sensor/loud', message: 'details' });
  expect(parent.lines.filter(({ logger }) => logger === 'examples.core:component:sensor/quiet')).toEqual([]);
});
