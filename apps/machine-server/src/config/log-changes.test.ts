import { create } from '@bufbuild/protobuf';
import { type LogLine, runToEnd } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { fromRobotConfig, toRobotConfig } from '@platform/machine-config/robot-config';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createServerLog, type Sink } from '../logging/server-log.ts';
import { configuredSecrets } from './configured-secrets.ts';
import { logChanges } from './log-changes.ts';

const sensor = (name: string, attributes: object) => ({
  name,
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  attributes,
});

const before = {
  components: [
    sensor('door', { url: 'mqtt://u:old-pw@host', password: 'first-password', readings: { t: 1 } }),
    sensor('gone', {}),
    sensor('same', {}),
  ],
  auth: { handlers: [{ type: 'api-key', config: { keys: ['a'], a: 'key-of-caller-1' } }] },
};
const after = {
  components: [
    sensor('door', { url: 'mqtt://u:new-pw@host', password: 'second-password', readings: { t: 2 }, pin: '77' }),
    sensor('same', {}),
    sensor('come', { note: 'from-environment', nested: { api_key: 'third-password' } }),
  ],
  auth: { handlers: [{ type: 'api-key', config: { keys: ['a'], a: 'key-of-caller-2' } }] },
  log: [{ pattern: 'x', level: 'debug' }],
};

async function logged(reveal: boolean, debug: boolean) {
  const local: LogLine[] = [];
  const cloud: LogLine[] = [];
  const sink: Sink = { write: (line) => void local.push(line), close: async () => {} };
  await using serverLog = createServerLog({
    file: '/dev/null',
    alsoFile: undefined,
    sinks: [sink],
    clock: new FakeClock(),
  });
  serverLog.onLine((line) => cloud.push(line));
  serverLog.levels.set({ debug, patterns: [], resources: new Map() });
  serverLog.redactor.hide('environment', ['from-environment', '77']);
  const configOf = (document: object) => fromRobotConfig(toRobotConfig(parse(document).config, {}));
  const log = serverLog.log.child('config');
  runToEnd(logChanges({ before: configOf(before), after: configOf(after), revision: 'r2', serverLog, log, reveal }));
  return { local, cloud };
}

const secrets = /old-pw|new-pw|first-|second-|third-|from-environment|key-of-caller|"77"/;

test('at info, one line names the resources and sections that a configuration adds, changes and removes', async () => {
  const { local, cloud } = await logged(false, false);
  expect(local).toEqual(cloud);
  expect(local.map(({ level, logger, message, fields }) => [level, logger, message, fields])).toEqual([
    [
      'info',
      'config',
      'the configuration changes',
      {
        revision: 'r2',
        added: ['core:component:sensor/come'],
        changed: ['core:component:sensor/door'],
        removed: ['core:component:sensor/gone'],
        sections: ['log', 'auth'],
      },
    ],
  ]);
});

test('at debug, one line for each attribute; secret keys, passwords in addresses and environment values are masked', async () => {
  const { local, cloud } = await logged(false, true);
  expect(local).toEqual(cloud);
  const lines = local.slice(1).map(({ logger, message }) => `${logger} ${message}`);
  expect(lines).toContain('config.diff ~ components[0].attributes.readings.t (door): 1 → 2');
  expect(lines).toContain('config.diff ~ components[0].attributes.password (door): changed (a secret)');
  expect(lines).toContain('config.diff + components[0].attributes.pin (door): "********"');
  expect(lines.find((line) => line.includes('attributes.url'))).toContain('mqtt://u:********@host');
  expect(JSON.stringify(local)).not.toMatch(secrets);
});

test('-reveal-sensitive-config-diffs alone shows the changes with their secrets in the outputs of this computer, and never in the cloud', async () => {
  const { local, cloud } = await logged(true, false);
  const lines = local.map(({ logger, message }) => `${logger} ${message}`);
  expect(lines).toContain(
    'config.diff ~ components[0].attributes.password (door): "first-password" → "second-password"',
  );
  expect(lines.join('\n')).toContain('key-of-caller-2');
  expect(cloud.map(({ message }) => message)).toEqual(['the configuration changes']);
  expect(JSON.stringify(cloud)).not.toMatch(secrets);
});

test('secrets of a configuration are the keys of callers, those of the location, and texts under secret keys', () => {
  const { config } = parse({
    ...before,
    components: [
      sensor('s', { password: 'long-enough', token: 'short', key: 'temperature', deep: { secret: ['a-list-too'] } }),
    ],
  });
  const message = toRobotConfig(config, { locationSecrets: [{ id: '1', secret: 'of-location' }] });
  expect([...runToEnd(configuredSecrets(message, fromRobotConfig(message)))].toSorted()).toEqual([
    'a-list-too',
    'key-of-caller-1',
    'long-enough',
    'of-location',
  ]);
  expect(runToEnd(configuredSecrets(create(RobotConfigSchema), fromRobotConfig(create(RobotConfigSchema)))).size).toBe(
    0,
  );
});
