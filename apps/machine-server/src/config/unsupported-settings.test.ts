import { parse } from '@platform/machine-config/parse';
import { fromRobotConfig, toRobotConfig } from '@platform/machine-config/robot-config';
import { expect, test } from 'vitest';
import { unsupportedSettings } from './unsupported-settings.ts';

const pathsOf = (document: object): string[] =>
  unsupportedSettings(fromRobotConfig(toRobotConfig(parse(document).config, {}))).map(({ path }) => path);

test('settings that this version does not support are reported with their path in the configuration that the machine gets', () => {
  const manager = { api: 'core:service:data_manager', model: 'core:builtin:builtin' };
  const document = {
    components: [{ name: 'a', api: 'core:component:sensor', model: 'core:builtin:fake', frame: { parent: 'world' } }],
    services: [
      { name: 'dm', ...manager, attributes: { selective_syncer_name: 'a' } },
      { name: 'dm2', ...manager },
    ],
    remotes: [{ name: 'r', address: 'r:1' }],
    processes: [{ id: 'p' }],
    jobs: [{ name: 'j' }],
    maintenance: { sensor_name: 'core:component:sensor/a', maintenance_allowed_key: 'k' },
    network: { bind_address: 'localhost:0', tls_cert_file: 'c', tls_key_file: 'k', sessions: {} },
    auth: { tls_auth_entities: ['e'] },
    tracing: { enabled: true },
  };
  expect(pathsOf(document).toSorted()).toEqual([
    'auth.tls_auth_entities',
    'jobs[0]',
    'processes[0]',
    'services[1]',
    'tracing',
  ]);
  const plain = {
    services: [{ name: 'dm', ...manager, attributes: { docdb_capture_config: { uri: 'mongodb://h' } } }],
  };
  expect(pathsOf({ ...plain, network: { bind_address: 'localhost:0' }, tracing: { enabled: false } })).toEqual([]);
});
