import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { configError, createLocalHome, startLocalServer, states } from '../testing/local-machine.ts';
import { until } from '../testing/start-test-server.ts';

const fake = (name: string, more: object = {}) => ({
  ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake' },
  ...more,
});
const machine = (...names: readonly string[]) => ({ components: names.map((name) => fake(name)) });

test('a server runs a local file without a cloud; an edit takes effect however the editor writes it', async () => {
  await using home = await createLocalHome(machine('a'));
  await using server = await startLocalServer(home);
  expect(states(server)).toBe('a ready');

  await home.write(machine('a', 'b'));
  await until('an edit in place', () => states(server) === 'a ready, b ready');

  const aside = join(home.path, 'machine.json~');
  await writeFile(aside, JSON.stringify(machine('c')));
  await rename(aside, home.configFile);
  await until('an atomic replacement', () => states(server) === 'c ready');

  await rm(home.configFile);
  await systemClock.sleep(300);
  await home.write(machine('d'));
  await until('a file that was away for a moment', () => states(server) === 'd ready');

  const text = JSON.stringify(machine('e'));
  await home.write(text.slice(0, 30));
  await home.write(text);
  await until('an editor that writes twice', () => states(server) === 'e ready');
  expect(home.log()).not.toMatch(/no such file|end of the file/);
  expect(await configError(server)).toBe('');
});

test('an edit with errors changes nothing: log and status give path, line and column; a correction takes effect', async () => {
  await using home = await createLocalHome(machine('a'));
  await using server = await startLocalServer(home);
  await home.write('{\n  "components": [\n    {"name": "b" "api": 1}\n  ]\n}');
  const syntax = `configuration file ${home.configFile}: line 3, column 18: expected "," or "}", found "\\""; the running configuration stays in use`;
  await home.logged(`ERROR config ${syntax}`);
  expect([states(server), await configError(server)]).toEqual(['a ready', syntax]);

  await home.write({ components: [fake('a'), fake('b', { depends_on: 7 })], debugg: 1 });
  const wrong = `configuration file ${home.configFile} has errors: components[1].depends_on, line 12, column 21: expected a list, found 7; the running configuration stays in use`;
  await home.logged(wrong);
  expect([states(server), await configError(server)]).toEqual(['a ready', wrong]);
  await home.logged('WARN  config debugg: ');

  await rm(home.configFile);
  await until('the file missed', async () => /found no such file; the running/.test(await configError(server)));
  expect(states(server)).toBe('a ready');

  await home.write(machine('a', 'b'));
  await until('the repair', () => states(server) === 'a ready, b ready');
  await until('no error', async () => (await configError(server)) === '');
});

test('a start with a file that has errors uses the last valid configuration, even if its newest copy is damaged', async () => {
  await using home = await createLocalHome(machine('first'));
  {
    await using server = await startLocalServer(home);
    await home.write(machine('second'));
    await until('the second', () => states(server) === 'second ready');
  }
  await home.write('{"components": [');
  {
    await using server = await startLocalServer(home);
    expect(states(server)).toBe('second ready');
    expect(await configError(server)).toMatch(
      /machine.json: line 1, column 17: expected a value, found the end of the file; using the last one without errors \(read 0 min ago, kept in .*cached_local_config_\w+.json\)$/,
    );
  }
  const kept = (await readdir(home.path)).find((name) => /^cached_local_config_\w+\.json$/.test(name)) ?? '';
  await writeFile(join(home.path, kept), '{"confirmed": "20');
  await using server = await startLocalServer(home);
  expect(states(server)).toBe('first ready');
  expect(await configError(server)).toMatch(
    /kept in .*previous.json\); the cached configuration .*cached_local_config_\w+\.json cannot be read: /,
  );
  await home.write(machine('third'));
  await until('the repair', () => states(server) === 'third ready');
});

test('a first start with errors runs the valid entries; a file that cannot be read at all is refused', async () => {
  await using home = await createLocalHome({ components: [fake('a'), fake('a'), { name: 'b' }] });
  {
    await using server = await startLocalServer(home);
    expect(states(server)).toBe('a ready');
    expect(await configError(server)).toBe(
      `configuration file ${home.configFile} has errors: components[1].name, line 9, column 15: expected a unique name, found core:component:sensor/a, which is also at components[0]; components[2].api, line 13, column 5: expected an api such as core:component:…, found nothing; running without what has errors`,
    );
    await home.write({ components: [fake('a'), { name: 'b' }, fake('c')] });
    await until('a smaller number of errors', () => states(server) === 'a ready, c ready');
  }
  await home.write('[1]');
  await expect(startLocalServer(home)).rejects.toThrow(
    `configuration file ${home.configFile}: expected a JSON object, found [1]`,
  );
});

test('D9 an edit waits for the maintenance window, even after a restart, and one without a window is applied', async () => {
  const gate = (open: boolean) => fake('gate', { attributes: { readings: { open } } });
  const maintenance = { sensor_name: 'core:component:sensor/gate', maintenance_allowed_key: 'open' };
  await using home = await createLocalHome({ components: [gate(false)] });
  {
    await using server = await startLocalServer(home);
    await home.write({ components: [gate(false), fake('b')], maintenance });
    await home.logged('new configuration waits for its maintenance window: expected true under "open"');
    expect(states(server)).toBe('gate ready');
  }
  await using server = await startLocalServer(home);
  expect(states(server)).toBe('gate ready');
  await home.logged('window: starting with the configuration that was applied before');
  await home.write({ components: [gate(false), fake('b')] });
  await until('an edit without a window', () => states(server) === 'b ready, gate ready');
});
