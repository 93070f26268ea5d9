import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { noProxies } from '@platform/base';
import { selfSigned } from '@platform/testkit';
import { expect, test } from 'vitest';
import { certifiedHost, readSettings } from './settings.ts';

const refusalOf = (args: readonly string[], env: NodeJS.ProcessEnv = {}): unknown => {
  try {
    return readSettings(args, env);
  } catch (caught) {
    return caught;
  }
};

test('without arguments and environment: loopback, port 8080, data under the home directory', () => {
  expect(readSettings([], {})).toEqual({
    dataDirectory: join(homedir(), '.platform', 'cloud'),
    machineDomain: 'machines.internal',
    databaseUrl: undefined,
    identity: {
      mail: undefined,
      openId: undefined,
      publicUrl: undefined,
      sessions: { browserIdleMs: 12 * 3_600_000, cliMs: 90 * 86_400_000 },
    },
    host: '127.0.0.1',
    tls: { kind: 'plaintext' },
    port: 8_080,
    trustedProxies: noProxies,
    instanceKey: undefined,
    nextInstanceKey: undefined,
    keepBeforeUpgrade: true,
    allowPrivateWebhookTargets: true,
    webhookAllow: [],
    databasePort: undefined,
    payments: { provider: 'manual' },
    keyRotationOverlapMs: 24 * 3_600_000,
    logLevel: 'info',
    command: 'platform',
    ice: { stunUrls: [], turn: undefined },
  });
});

test('the data directory is --data, or else under PLATFORM_HOME, and is absolute', () => {
  const env = { PLATFORM_HOME: '/srv/platform' };
  expect(readSettings([], env).dataDirectory).toBe('/srv/platform/cloud');
  expect(readSettings(['--data', 'here'], env).dataDirectory).toBe(resolve('here'));
});

test('arguments and environment are read, and the settings are frozen', () => {
  const env = { PLATFORM_INSTANCE_KEY: 'a key', PLATFORM_LOG_LEVEL: 'debug' };
  const settings = readSettings(['--port', '0', '--host', '::1', '--json'], env);
  expect(settings).toMatchObject({ port: 0, host: '::1', instanceKey: 'a key', logLevel: 'debug' });
  expect(Object.isFrozen(settings)).toBe(true);
});

test('an unknown log level is refused with the list of valid ones', () => {
  expect(() => readSettings([], { PLATFORM_LOG_LEVEL: 'loud' })).toThrow(
    'PLATFORM_LOG_LEVEL: expected debug, info, warn, error, found "loud"',
  );
});

test('trusted proxies are addresses and networks of both versions; anything else is refused by its name', () => {
  const { trustedProxies } = readSettings([], { PLATFORM_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8 ::1,fd00::/8' });
  const trusted = ['127.0.0.1', '::ffff:127.0.0.1', '10.255.0.1', '::1', 'fd12::1'];
  const others = ['127.0.0.2', '11.0.0.1', 'fe80::1', '', 'localhost', undefined];
  expect([...trusted, ...others].filter((address) => trustedProxies.has(address))).toEqual(trusted);
  for (const wrong of ['proxy.local', '10.0.0.0/33', '10.0.0', 'fd00::/129', '1.2.3.4/', '1.2.3.4/x'])
    expect(refusalOf([], { PLATFORM_TRUSTED_PROXIES: `127.0.0.1,${wrong}` })).toMatchObject({
      code: 'invalid_argument',
      message: `PLATFORM_TRUSTED_PROXIES: expected addresses or networks such as 127.0.0.1, 10.0.0.0/8, found "${wrong}"`,
    });
});

test('a port is a whole number up to 65535', () => {
  expect(readSettings(['--port', '65535'], {}).port).toBe(65_535);
  for (const port of ['65536', '80a', '-1', '1.5', '']) {
    expect(refusalOf([`--port=${port}`])).toMatchObject({
      code: 'invalid_argument',
      message: `--port: expected a number from 0 to 65535, found ${JSON.stringify(port)}`,
    });
  }
});

test('D31 plaintext on loopback, elsewhere TLS with given files or the own authority; --insecure allows plaintext elsewhere', () => {
  const tls = (...args: string[]): unknown => readSettings(args, {}).tls;
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
    expect(tls('--host', host)).toEqual({ kind: 'plaintext' });
  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.1.5',
    'example.com',
    'localhost.example.com',
    '127.0.0.1.example.com',
  ]) {
    expect(tls('--host', host)).toEqual({ kind: 'own', names: [] });
    expect(tls('--host', host, '--insecure')).toEqual({ kind: 'plaintext' });
    expect(tls('--host', host, '--tls-cert', '/c', '--tls-key', '/k')).toEqual({
      kind: 'files',
      certFile: '/c',
      keyFile: '/k',
    });
  }
  expect(tls('--tls')).toEqual({ kind: 'own', names: [] });
  expect(tls('--tls-name', 'a', '--tls-name', 'b')).toEqual({ kind: 'own', names: ['a', 'b'] });
});

test('with a certificate of its own, the cloud has the host of its public address if the certificate is valid for it', async () => {
  const { cert } = await selfSigned(1, ['cloud.example', '*.machines.cloud.example']);
  const files = ['--host=0.0.0.0', '--tls-cert=/c', '--tls-key=/k'];
  const hostOf = (args: readonly string[], publicUrl?: string): string | undefined =>
    certifiedHost(readSettings(args, publicUrl === undefined ? {} : { PLATFORM_PUBLIC_URL: publicUrl }), cert);
  expect(hostOf(files, 'https://cloud.example')).toBe('cloud.example');
  // The address of a proxy, which has another certificate.
  expect(hostOf(files, 'https://proxy.example')).toBeUndefined();
  expect(hostOf(files)).toBeUndefined();
  expect(hostOf(['--tls'], 'https://cloud.example')).toBeUndefined();
});

test.each([
  ['--tls-cert=/c', '--tls-cert and --tls-key: expected both or neither'],
  ['--tls-key=/k', '--tls-cert and --tls-key: expected both or neither'],
  ['--insecure --tls', '--insecure: expected no TLS options'],
  ['--insecure --tls-cert=/c --tls-key=/k', '--insecure: expected no TLS options'],
  ['--tls-cert=/c --tls-key=/k --tls-name=x', '--tls-name: the certificate of --tls-cert already contains the names'],
  ['--host=', '--host: expected a name or an address'],
])('D31 %s is refused', (args, text) => {
  expect(refusalOf(args.split(' '))).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(text),
  });
});

test('an unknown option, a missing value and a positional argument are refused with the usage', () => {
  for (const args of [['--prot', '80'], ['--port'], ['up']]) {
    expect(refusalOf(args)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/'?(--prot|--port|up)\b.*; expected: cloud \[--data DIR\]/s),
    });
  }
});

test('D23 webhooks to private addresses are allowed if the cloud listens only on loopback, unless a variable overrides it', () => {
  const allowed = (value: string | undefined, host: string): boolean =>
    readSettings(['--host', host], { PLATFORM_WEBHOOK_ALLOW_PRIVATE: value }).allowPrivateWebhookTargets;
  const values = ['true', '1', 'false', '0', '', undefined];
  expect(values.map((value) => allowed(value, '127.0.0.1'))).toEqual([true, true, false, false, true, true]);
  expect(values.map((value) => allowed(value, '0.0.0.0'))).toEqual([true, true, false, false, false, false]);
  expect(refusalOf([], { PLATFORM_WEBHOOK_ALLOW_PRIVATE: 'yes' })).toMatchObject({
    code: 'invalid_argument',
    message: 'PLATFORM_WEBHOOK_ALLOW_PRIVATE: expected true or false, found "yes"',
  });
});

test('the database is one URL, and an invalid one is refused without being shown', () => {
  const url = 'postgres://platform:secret@localhost/platform';
  expect(readSettings([], { PLATFORM_DATABASE_URL: url }).databaseUrl).toBe(url);
  expect(readSettings([], {}).databaseUrl).toBeUndefined();
  const refusal = refusalOf([], { PLATFORM_DATABASE_URL: 'mysql://platform:secret@localhost/platform' });
  expect(refusal).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/^PLATFORM_DATABASE_URL: /),
  });
  expect(JSON.stringify(refusal)).not.toContain('secret');
});

test('the overlap of a rotated key is a duration with its unit, or 0 for no overlap', () => {
  const name = 'PLATFORM_KEY_ROTATION_OVERLAP';
  const overlapOf = (value: string): number => readSettings([], { [name]: value }).keyRotationOverlapMs;
  expect(['0', '0s', '90s', '30m', '1h', '7d', ''].map(overlapOf)).toEqual([
    0,
    0,
    90_000,
    1_800_000,
    3_600_000,
    7 * 86_400_000,
    86_400_000,
  ]);
  for (const value of ['24', '1.5h', '-1h', '24 h', '367d', 'soon', '999999999d'])
    expect(refusalOf([], { [name]: value })).toMatchObject({
      code: 'invalid_argument',
      message: `${name}: expected a duration such as 30m, 24h or 7d, or 0, at most 366d, found ${JSON.stringify(value)}`,
    });
});

test('the period for rereading all files of readings is a duration; 0 means never, and it is unset by default', () => {
  const periodOf = (value: string): number | undefined =>
    readSettings([], { PLATFORM_SCRUB_PERIOD: value }).scrubPeriodMs;
  expect(['', '0', '24h', '30d'].map(periodOf)).toEqual([undefined, 0, 86_400_000, 30 * 86_400_000]);
});

test('the age at which rows are sealed is a duration of at least a second, and is unset by default', () => {
  const ageOf = (value: string): number | undefined => readSettings([], { PLATFORM_SEAL_AGE: value }).sealAgeMs;
  expect(['', '0', '5s', '2m'].map(ageOf)).toEqual([undefined, 1_000, 5_000, 120_000]);
  expect(refusalOf([], { PLATFORM_SEAL_AGE: 'soon' })).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/^PLATFORM_SEAL_AGE: expected a duration .* found "soon"$/),
  });
});

test('D43 --webhook-allow takes loopback addresses with a port, but not the ports of the platform and its database', () => {
  const read = (...args: string[]) =>
    readSettings(
      args.flatMap((one) => ['--webhook-allow', one]),
      { PLATFORM_DATABASE_URL: 'postgres://me@localhost:5433/platform' },
    ).webhookAllow;
  expect(read('127.0.0.1:1880', '[0:0::1]:8123')).toEqual([
    { address: '127.0.0.1', port: 1880 },
    { address: '::1', port: 8123 },
  ]);
  for (const port of [8080, 5433])
    expect(() => read(`127.0.0.1:${port}`)).toThrow(
      `--webhook-allow: expected a port of another program, found ${port}`,
    );
  expect(() => read('169.254.169.254:80')).toThrow('a cloud metadata address');
});

test.each([
  ['postgres://localhost/platform', {}, 5432],
  ['postgres://localhost/platform', { PGPORT: '6543' }, 6543],
  ['postgres://localhost:5433/platform?port=7000', {}, 7000],
])('D43 the port of %s with %o is %i', (PLATFORM_DATABASE_URL, env, port) => {
  expect(readSettings([], { ...env, PLATFORM_DATABASE_URL }).databasePort).toBe(port);
});
