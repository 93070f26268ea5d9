/** Fields of the configuration that concern the whole machine. Those of the data manager: `data-attributes.long.test.ts`. */
import { readdir } from 'node:fs/promises';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect } from 'vitest';
import { until } from '../start-test-server.ts';
import { type Machine, oneSensor, type Run } from './machine-run.ts';
import type { Row, Surroundings } from './row.ts';
import { greeter } from './shared-runs.ts';

/** Whether a debug line of a client is written; a second line after it always is. @param name of the row, because rows share a server */
async function writesDebug(run: Run, name: string): Promise<boolean> {
  await run.log('debug', `a debug line for ${name}`);
  await run.log('error', `the line after that of ${name}`);
  await run.says(`the line after that of ${name}`);
  return run.count(`a debug line for ${name}`) > 0;
}

/** The server runs without the faulty field, and reports it. */
const named =
  (path: string) =>
  async (_machine: Machine, { shared }: Surroundings): Promise<void> => {
    const { run } = await shared.faulty();
    await run.says('has errors: ');
    const { configError } = await run.link.client(RobotService).getMachineStatus({});
    const starts = configError.split(/ has errors: |; /).map((each) => each.split(', line ')[0]);
    expect(starts).toContain(path);
    expect(Object.values(await run.errors())).toContain('');
  };

export const attributeRows: readonly Row[] = [
  {
    name: 'debug',
    async effect(_machine, { shared }) {
      expect(await writesDebug((await shared.configured()).run, 'debug')).toBe(true);
    },
    async usual(_machine, { plain }) {
      expect(await writesDebug(await plain(), 'debug')).toBe(false);
    },
    wrong: named('debug'),
  },
  {
    name: 'log',
    async effect(_machine, { shared }) {
      expect(await writesDebug((await shared.quietProbe()).run, 'log')).toBe(true);
    },
    async usual(_machine, { plain }) {
      expect(await writesDebug(await plain(), 'log')).toBe(false);
    },
    async wrong(_machine, { shared }) {
      const { run } = await shared.faulty();
      await run.says(/"level":"warn".*log\[0\]/);
    },
  },
  {
    name: 'log_configuration',
    async effect(_machine, { shared }) {
      const { run, home } = await shared.quietProbe();
      const files = (): Promise<string[]> => readdir(home, { recursive: true });
      await until('a captured reading', async () => (await files()).some((name) => /\.(prog|capture)$/.test(name)));
      expect(await writesDebug(run, 'log_configuration')).toBe(true);
      expect(run.count('"msg":"capturing"')).toBe(0);
    },
    async usual(_machine, { shared }) {
      const { run } = await shared.captured();
      await run.says('"msg":"capturing"');
    },
    wrong: named('components[0].log_configuration'),
  },
  {
    name: 'log_level',
    async effect(machine) {
      const run = await machine.run({ document: await greeter(machine.home, { log_level: 'debug' }) });
      await run.says('listening with --log-level=debug');
    },
    async usual(_machine, { shared }) {
      const { run } = await shared.programs();
      await run.says('listening with no options');
    },
    async wrong(_machine, { shared }) {
      const { run } = await shared.faulty();
      await run.says(/"level":"warn".*modules\[0\].*log_level/);
    },
  },
  {
    name: 'disable_log_deduplication',
    async effect(_machine, { shared }) {
      const { run } = await shared.configured();
      await run.log('info', 'the same line', 6);
      await until('all six', () => run.count('the same line') === 6);
    },
    async usual(machine) {
      const run = await machine.run({ document: { ...oneSensor, disable_log_deduplication: false } });
      await run.log('info', 'the same line', 6);
      await run.stop();
      expect(run.count('"msg":"the same line"')).toBe(3);
      expect(run.count('repeated 3 more times')).toBe(1);
    },
    wrong: named('disable_log_deduplication'),
  },
  {
    name: 'maintenance',
    async effect(machine, around) {
      const run = await editedTo(machine, around, window, false);
      await run.says(/waits for its maintenance window: expected true under .*open.*found false/);
      const { pendingConfig } = await run.link.client(RobotService).getMachineStatus({});
      expect(pendingConfig?.reason).toContain('found false');
    },
    async usual(machine, around) {
      const run = await editedTo(machine, around, {}, false);
      await until('the edit', async () => (await run.resources()).some(({ name }) => name?.name === 'added'));
    },
    async wrong(machine, around) {
      const maintenance = { sensor_name: 'core:component:sensor/absent', maintenance_allowed_key: 'open' };
      const run = await editedTo(machine, around, { maintenance }, true);
      await run.says(/waits for its maintenance window: expected the sensor .*absent to be running, found none/);
    },
  },
];

const window = {
  maintenance: { sensor_name: 'core:component:sensor/door', maintenance_allowed_key: 'open' },
};

const sensor = (name: string, readings: object): object => ({
  ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake', attributes: { readings } },
});

/** A machine whose configuration is edited in its cloud while it runs. */
async function editedTo(
  machine: Machine,
  { fake, credentials }: Surroundings,
  more: object,
  open: boolean,
): Promise<Run> {
  const door = sensor('door', { open });
  fake.document = { components: [door] };
  const run = await machine.run({ document: credentials });
  fake.document = { components: [door, sensor('added', {})], ...more };
  return run;
}
