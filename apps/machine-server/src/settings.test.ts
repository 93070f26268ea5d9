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
  expect(readSettings(['-webrtc=false'], {}).warnings).toEqual(['option -webrtc has no effect yet']);
  expect(() => readSettings(['-confg', 'f'], {})).toThrow(/unknown option "-confg"; known: .*-config/);
  expect(() => readSettings(['-config'], {})).toThrow(/-config: expected a value/);
  expect(() => readSettings(['-debug=maybe'], {})).toThrow(/expected true or false/);
  expect(readSettings(['-no-tls'], {}).warnings).toEqual([]);
  expect(() => readSettings(['-no-tls=false'], {})).toThrow(/-no-tls: expected true, found "false"/);
});

test('D16 durations are read, and PLATFORM_HOME moves everything', () => {
  expect([durationMs('30s'), durationMs('1m'), durationMs('1m30s'), durationMs('250ms'), durationMs('5')]).toEqual([
    30_000,
    60_000,
    90_000,
    250,
    undefined,
  ]);
  const settings = readSettings([], { PLATFORM_HOME: '/tmp/h', PLATFORM_CONFIG_READ_TIMEOUT: 'soon' });
  expect(settings).toMatchObject({ home: '/tmp/h', configReadTimeoutMs: 15_000 });
  expect(settings.warnings[0]).toContain('"soon" is not a duration');
  expect(readSettings([], { PLATFORM_CONFIG_READ_TIMEOUT: '30s' }).configReadTimeoutMs).toBe(30_000);
});
