import { expect, test } from 'vitest';
import { durationMs } from './config/duration.ts';
import { readSettings } from './settings.ts';

test('D16 options have one dash or two, and their value after a space or an equals sign', () => {
  for (const args of [
    ['-config', 'f', '-debug'],
    ['--config=f', '--debug=true'],
    ['-config=f', '-debug'],
  ]) {
    expect(readSettings(args, {})).toMatchObject({ config: 'f', debug: true });
  }
  expect([readSettings([], {}).webRtc, readSettings(['-webrtc=false'], {}).webRtc]).toEqual([true, false]);
  expect(() => readSettings(['-config'], {})).toThrow(/-config: expected a value/);
  expect(() => readSettings(['-debug=maybe'], {})).toThrow(/expected true or false/);
  expect([readSettings(['-no-tls'], {}).noTls, readSettings(['-no-tls=false'], {}).noTls]).toEqual([true, false]);
});

test('D16 an unknown option is refused with a suggestion, or with all options', () => {
  const refusals: Record<string, RegExp> = {
    '-confg': /^unknown option "-confg"; did you mean -config\? -help says/,
    '--untrsuted-env=true': /^unknown option "--untrsuted-env=true"; did you mean -untrusted-env\?/,
    '-DEBUG': /did you mean -debug\?/,
    '-quite-something-else':
      /^unknown option "-quite-something-else"; known: -allow-insecure-creds .*-webrtc\. -help says/,
    '-constructor': /unknown option/,
    'platform.json': /^expected an option, found "platform\.json"; -help says/,
  };
  for (const [arg, message] of Object.entries(refusals)) expect(() => readSettings([arg], {})).toThrow(message);
  expect(() => readSettings(['-ftdc', 'false'], {})).toThrow('expected an option, found "false"; write -ftdc=false');
});

test('D16 diagnostics are on by default', () => {
  expect(readSettings([], {}).diagnostics).toBe(true);
  expect(readSettings(['--ftdc=false'], {}).diagnostics).toBe(false);
  expect(readSettings(['-ftdc'], {}).diagnostics).toBe(true);
});

test('D16 durations are read, and PLATFORM_HOME moves everything', () => {
  expect([durationMs('30s'), durationMs('1m'), durationMs('1m30s'), durationMs('250ms'), durationMs('5')]).toEqual([
    30_000,
    60_000,
    90_000,
    250,
    undefined,
  ]);
  const settings = readSettings([], { PLATFORM_HOME: '/tmp/h', PLATFORM_CONFIG_READ_TIMEOUT: '' });
  expect(settings).toMatchObject({ home: '/tmp/h', configReadTimeoutMs: 15_000 });
  expect(readSettings([], { PLATFORM_CONFIG_READ_TIMEOUT: '30s' }).configReadTimeoutMs).toBe(30_000);
});

test('a variable with an invalid limit or duration is refused with its name, what was expected, and its value', () => {
  const durations = [
    'PLATFORM_CONFIG_READ_TIMEOUT',
    'PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT',
    'PLATFORM_MODULE_STARTUP_TIMEOUT',
  ];
  const expected = 'expected a duration such as 30s or 1m30s (units ms, s, m, h), above 0 and at most 576h';
  for (const name of durations)
    for (const value of ['soon', '30', '-5s', '0s', '577h', ' ', `${'9'.repeat(400)}h`])
      expect(() => readSettings([], { [name]: value })).toThrow(`${name}: ${expected}, found ${JSON.stringify(value)}`);
  const limit = 'PLATFORM_RESOURCE_REQUESTS_LIMIT';
  for (const value of ['many', '0', '-1', '1.5', '1e3', '0x10', ' 5', '1000001'])
    expect(() => readSettings([], { [limit]: value })).toThrow(
      `${limit}: expected a whole number from 1 to 1000000, found ${JSON.stringify(value)}`,
    );
  expect(readSettings([], { [limit]: '7' }).resourceRequestsLimit).toBe(7);
  expect(readSettings([], { [limit]: '' }).resourceRequestsLimit).toBe(100);
  expect(readSettings([], { PLATFORM_MODULE_STARTUP_TIMEOUT: '1m' })).toMatchObject({
    moduleStartupTimeoutMs: 60_000,
  });
  expect(readSettings([], {}).moduleStartupTimeoutMs).toBe(300_000);
  expect([readSettings([], {}).webRtcPort, readSettings([], { PLATFORM_WEBRTC_PORT: '3478' }).webRtcPort]).toEqual([
    0, 3_478,
  ]);
  expect(() => readSettings([], { PLATFORM_WEBRTC_PORT: '70000' })).toThrow(
    'PLATFORM_WEBRTC_PORT: expected a port from 1 to 65535, found "70000"',
  );
});

test('PLATFORM_NO_WINDOWS_EVENT_LOGGER has an effect with any value', () => {
  const name = 'PLATFORM_NO_WINDOWS_EVENT_LOGGER';
  expect(['', '0', 'true'].map((value) => readSettings([], { [name]: value }).noWindowsEventLog)).toEqual([
    true,
    true,
    true,
  ]);
  expect(readSettings([], {}).noWindowsEventLog).toBe(false);
});
