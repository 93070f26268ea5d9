import { expect, test } from 'vitest';
import { environmentOf, type ModuleEnvironment } from './environment.ts';

const machine = {
  machineId: '',
  partId: 'part-1',
  fqdn: '',
  locationId: '',
  primaryOrgId: '',
  apiKeyId: '',
  apiKey: '',
};
const module: ModuleEnvironment = {
  ...{ home: '/home', dataDirectory: '/data', name: 'm', address: '/m.sock', moduleId: '', root: '/m', machine },
  noApiKey: false,
};

test('a module gets the information about its machine under both names, and the Node of the machine-server', () => {
  const environment = environmentOf(module, { PATH: '/bin' }, { VIAM_MODULE_NAME: 'own' });
  expect(environment).toMatchObject({ PATH: '/bin', PLATFORM_MODULE_NAME: 'm', VIAM_MODULE_NAME: 'own' });
  expect(environment).toMatchObject({ PLATFORM_MACHINE_PART_ID: 'part-1', VIAM_MACHINE_PART_ID: 'part-1' });
  expect(environment['PLATFORM_NODE']).toBe(process.execPath);
  expect(Object.keys(environment)).not.toContain('PLATFORM_MACHINE_ID');
});

test('a Node chosen by the user, or by the configuration of the module, takes precedence', () => {
  expect(environmentOf(module, { PLATFORM_NODE: '/a/node' }, {})['PLATFORM_NODE']).toBe('/a/node');
  expect(environmentOf(module, {}, { PLATFORM_NODE: '/b/node' })['PLATFORM_NODE']).toBe('/b/node');
});

test('D52 no_api_key: the module gets no key of the machine, under no name, unless its own env has one', () => {
  const withKey = { ...module, machine: { ...machine, apiKeyId: 'key-1', apiKey: 'secret' } };
  const keysOf = (environment: object): string[] => Object.keys(environment).filter((name) => name.includes('API_KEY'));
  expect(keysOf(environmentOf(withKey, {}, {}))).toHaveLength(4);
  const inherited = { PLATFORM_API_KEY: 'other', VIAM_API_KEY_ID: 'other' };
  expect(keysOf(environmentOf({ ...withKey, noApiKey: true }, inherited, {}))).toEqual([]);
  expect(environmentOf({ ...withKey, noApiKey: true }, {}, { PLATFORM_API_KEY: 'own' })).toMatchObject({
    PLATFORM_API_KEY: 'own',
  });
});
