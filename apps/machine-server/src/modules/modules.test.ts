import type { JsonObject } from '@bufbuild/protobuf';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect, onTestFinished, test } from 'vitest';
import { oracleService } from '../testing/test-module.ts';
import { startModuleMachine } from '../testing/module-machine.ts';
import { until } from '../testing/start-test-server.ts';
import { writeTestModule } from '../testing/write-module.ts';

const counter = (name: string, attributes: JsonObject = { greeting: 'hello' }): JsonObject => ({
  ...{ name, api: 'rdk:component:sensor', model: 'acme:demo:counter', attributes },
  service_configs: [
    {
      type: 'data_manager',
      attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 20 }] },
    },
  ],
});

test('a module serves a sensor that is captured, reconfigured in place, killed, and served again by its next process', async () => {
  const machine = await startModuleMachine();
  onTestFinished(() => machine[Symbol.asyncDispose]());
  const path = await writeTestModule(machine.home);
  machine.configure({ modules: [{ name: 'demo', executable_path: path }], components: [counter('c')] });
  const readings = () => machine.link.client(SensorService).getReadings({ name: 'c' });
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  const first = (await readings()).readings;
  expect(first['greeting']?.kind.value).toBe('hello');
  await until('captured readings', () => machine.captured('c').some(({ readings }) => (readings as JsonObject)['greeting'] === 'hello'));

  machine.configure({ modules: [{ name: 'demo', executable_path: path }], components: [counter('c', { greeting: 'bye' })] });
  await until('the new greeting', async () => (await readings()).readings['greeting']?.kind.value === 'bye');
  const pid = Number((await readings()).readings['pid']?.kind.value);
  expect(pid).toBe(first['pid']?.kind.value);

  process.kill(pid, 'SIGKILL');
  await until('the reason', () => machine.log().includes('module "demo": it was ended by SIGKILL; starting it again'));
  await until('another process', async () => {
    const next = await readings().catch(() => undefined);
    return next !== undefined && next.readings['pid']?.kind.value !== pid;
  });
  expect((await readings()).readings['greeting']?.kind.value).toBe('bye');
});
