import { createLog } from '@platform/base';
import { expect, test } from 'vitest';
import { readLocalConfig } from './local-config.ts';

const sensor = { name: 'a', api: 'rdk:component:sensor', model: 'rdk:builtin:fake' };

test('the warnings of a configuration in the -config file are logged; errors name the file and each position', async () => {
  const told: string[] = [];
  const log = createLog((level, _logger, message) => told.push(`${level} ${message}`));
  const read = (document: unknown) => readLocalConfig({ kind: 'local', path: '/etc/press.json', document }, log);
  const off = { ...sensor, name: 'off', disabled: true };
  const config = await read({ components: [{ ...sensor, depends_on: ['off'] }, off], debugg: true });
  expect(config.components.map(({ name }) => name)).toEqual(['a']);
  expect(told.toSorted()).toEqual([
    'warn components[0].depends_on[0]: "off" is disabled: a, which depends on it, cannot run',
    expect.stringMatching(/^warn debugg: .*closest: debug/),
  ]);
  await expect(read({ components: [sensor, sensor, { name: 'b' }] })).rejects.toThrow(
    'configuration file /etc/press.json has errors: components[1].name: expected a unique name, found rdk:component:sensor/a, which is also at components[0]; components[2].api: expected an api',
  );
});
