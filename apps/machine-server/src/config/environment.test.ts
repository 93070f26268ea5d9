import { runToEnd } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { fromRobotConfig, toRobotConfig } from '@platform/machine-config/robot-config';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { secretsOf } from '../serve/authenticate.ts';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { configError, createLocalHome, startLocalServer, states } from '../testing/local-machine.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';
import { ConfigEnvironment } from './environment.ts';

/** The placeholder for a variable. */
const of = (name: string): string => `\${environment.${name}}`;
const sensor = (name: string, attributes: object = {}) => ({
  ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake', attributes },
});

test('a placeholder in any text of a configuration is replaced by its variable; the configuration itself keeps the placeholder', () => {
  const message = toRobotConfig(
    parse({
      components: [sensor('a', { list: [`x ${of('ONE')} ${of('TWO')}`], packages: `\${packages.p}` })],
      modules: [{ name: 'm', executable_path: `${of('ONE')}/m`, env: { KEY: of('TWO') } }],
      network: { bind_address: of('ADDRESS') },
      auth: { handlers: [{ type: 'api-key', config: { id: of('TWO') } }] },
    }).config,
    {},
  );
  const environment = new ConfigEnvironment({ ONE: '1', TWO: 'two and more', ADDRESS: '127.0.0.1:9' });
  const { config, problems } = runToEnd(environment.resolve(message));
  expect(problems).toEqual([]);
  expect(fromRobotConfig(config)).toMatchObject({
    components: [{ attributes: { list: ['x 1 two and more'], packages: `\${packages.p}` } }],
    modules: [{ executable_path: '1/m', env: { KEY: 'two and more' } }],
    network: { bind_address: '127.0.0.1:9' },
  });
  expect(secretsOf(config).keys).toEqual(new Map([['id', 'two and more']]));
  expect(config.revision).toBe(message.revision);
  expect(fromRobotConfig(message).network).toEqual({ bind_address: of('ADDRESS') });
  expect(environment.secrets.toSorted()).toEqual(['1', '127.0.0.1:9', 'two and more']);
  expect(environment.hide('1: found two and more')).toBe(`1: found ${of('TWO')}`);
});

test('an unset variable in auth admits no one, and elsewhere omits its setting; with -untrusted-env, no variable is replaced', () => {
  const document = {
    network: { bind_address: of('ABSENT'), sessions: { heartbeat_window: '3s' } },
    auth: { handlers: [{ type: 'api-key', config: { id: of('ABSENT') } }] },
  };
  const message = toRobotConfig(parse(document).config, {});
  const { config, problems } = runToEnd(new ConfigEnvironment({}).resolve(message));
  expect(config.network?.bindAddress).toBe('');
  expect(fromRobotConfig(config).network).toEqual({ sessions: { heartbeat_window: '3s' } });
  const key = secretsOf(config).keys.get('id') ?? '';
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  const text = 'expected the environment variable ABSENT of the machine-server, found no such variable';
  expect(problems.map(({ path, message: said }) => `${path}: ${said}`)).toEqual([
    `network.bind_address: ${text}`,
    `auth.handlers[0].config.id: ${text}`,
  ]);
  const untrusted = runToEnd(new ConfigEnvironment(undefined).resolve(message));
  expect(untrusted.problems[0]?.message).toMatch(/found -untrusted-env, which does not allow this$/);
});

test('an unset variable stops the resource that names it, with its path; others run, and values are never shown', async () => {
  await using home = await createLocalHome({
    components: [
      sensor('a', { readings: { text: of('PRESS_KEY') } }),
      sensor('b', { readings: { text: of('ABSENT') } }),
      // The error of this attribute repeats it.
      sensor('c', { readings: of('PRESS_KEY') }),
    ],
    modules: [{ name: 'm', executable_path: `${of('ABSENT')}/m` }],
    network: { fqdn: of('NO_FILE') },
  });
  await using server = await startLocalServer(home, { env: { PRESS_KEY: 'correct-horse-battery' } });
  expect(states(server)).toBe('a ready, b unhealthy, c unhealthy');
  const errorOf = (name: string) => server.graph.status().find(({ config }) => config.name === name)?.error;
  const missing = 'expected the environment variable ABSENT of the machine-server, found no such variable';
  expect(errorOf('b')).toBe(`components[1].attributes.readings.text: ${missing}`);
  expect(errorOf('c')).toContain(of('PRESS_KEY'));
  await until('the module', () => server.modules.errors().includes(`modules[0].executable_path: ${missing}`));
  expect(await configError(server)).toContain('network.fqdn: expected the environment variable NO_FILE');
  await home.logged(`ERROR config components[1].attributes.readings.text: ${missing}`);
  await using link = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
  const { readings } = await link.client(SensorService).getReadings({ name: 'a' });
  expect(readings['text']?.kind.value).toBe('correct-horse-battery');
  await server[Symbol.asyncDispose]();
  expect(home.log()).not.toContain('correct-horse-battery');
});

test('a configuration from the cloud also gets the machine’s variables; the cache contains no values', async () => {
  await using cloud = await startFakeCloud({ components: [sensor('a', { readings: of('PRESS_KEY') })] });
  await using home = await createTestHome(cloud.url);
  const env = { PLATFORM_BIND_ADDRESS: '127.0.0.1:0', PRESS_KEY: 'correct-horse-battery' };
  await using _server = await startTestServer(home, undefined, undefined, { env });
  await until('the report', () => (cloud.reports?.at(-1)?.lastError ?? '').includes(of('PRESS_KEY')));
  expect(JSON.stringify(cloud.reports?.map(({ lastError }) => lastError))).not.toContain('correct-horse');
  expect(cloud.logs.join('\n')).not.toContain('correct-horse');
});
