import { expect, test } from 'vitest';
import { Levels } from './levels.ts';

const door = 'resources.core:component:sensor/door';

test('a log pattern is matched against the full name of a line’s resource; the last match wins', () => {
  const levels = new Levels();
  const patterns = [
    { pattern: 'core:component:sensor/.*', level: 'warn' },
    { pattern: 'rdk:component:sensor/do+r', level: 'Debug' },
    { pattern: 'sync', level: 'error' },
  ];
  expect(levels.set({ debug: false, patterns, resources: new Map() })).toEqual([]);
  expect(levels.passes('debug', door)).toBe(true);
  expect(levels.passes('debug', 'capture.core:component:sensor/door')).toBe(true);
  expect(levels.passes('info', 'resources.core:component:sensor/window')).toBe(false);
  expect(levels.passes('info', 'resources.core:component:camera/door')).toBe(true);
  expect(levels.passes('debug', 'resources')).toBe(false);
  expect(levels.passes('warn', 'sync')).toBe(false);
  levels.set({ debug: false, patterns: patterns.toReversed(), resources: new Map() });
  expect(levels.passes('info', door)).toBe(false);
});

test('the level of a resource overrides the patterns, for that resource only; debug mode overrides both', () => {
  const levels = new Levels();
  const patterns = [{ pattern: '.*', level: 'error' }];
  const resources = new Map([['core:component:sensor/door', 'info']]);
  levels.set({ debug: false, patterns, resources });
  expect([levels.passes('info', door), levels.passes('debug', door)]).toEqual([true, false]);
  expect(levels.passes('info', 'resources.core:service:generic/door')).toBe(false);
  levels.set({ debug: true, patterns, resources });
  expect([levels.passes('debug', door), levels.passes('debug', 'sync')]).toEqual([true, true]);
});

test('an invalid pattern or level is a problem with its path, and has no effect', () => {
  const levels = new Levels();
  const patterns = [
    { pattern: '(', level: 'debug' },
    { pattern: '.*', level: 'loud' },
  ];
  expect(levels.set({ debug: false, patterns, resources: new Map() })).toEqual([
    { path: 'log[0].pattern', level: 'warning', message: expect.stringMatching(/RE2 syntax.*found "\(".*nothing$/) },
    {
      path: 'log[1].level',
      level: 'warning',
      message: 'expected one of debug, info, warn, error, found "loud": it has no effect',
    },
  ]);
  expect([levels.passes('info', door), levels.passes('debug', door)]).toEqual([true, false]);
});

test('log_level of a module applies to its loggers unless a pattern or debug mode says otherwise', () => {
  const levels = new Levels();
  const modules = new Map([
    ['cam', 'debug'],
    ['cam.old', 'error'],
  ]);
  const of = (logger: string, patterns: { pattern: string; level: string }[] = [], debug = false): string => {
    levels.set({ debug, patterns, resources: new Map(), modules });
    return ['debug', 'info', 'warn', 'error'].find((level) => levels.passes(level as 'debug', logger)) ?? '';
  };
  expect([of('modules.cam'), of('modules.cam.driver'), of('modules.camera'), of('cam')]).toEqual([
    ...['debug', 'debug', 'info', 'info'],
  ]);
  expect(of('modules.cam', [{ pattern: 'modules\\.cam', level: 'warn' }])).toBe('warn');
  expect(of('modules.cam.old', [], true)).toBe('debug');
});

test('the level of a module’s resource applies to the lines that the module writes about it', () => {
  const levels = new Levels();
  const resources = new Map([['core:component:sensor/door', 'debug']]);
  const modules = new Map([['cam', 'error']]);
  const patterns = [{ pattern: 'modules\\..*', level: 'warn' }];
  levels.set({ debug: false, patterns, resources, modules });
  for (const logger of ['modules.cam.door', 'modules.cam.cam.door', 'modules.cam.rdk:component:sensor/door'])
    expect(levels.passes('debug', logger), logger).toBe(true);
  for (const logger of ['modules.cam', 'modules.cam.indoor', 'modules.door.window'])
    expect(levels.passes('info', logger), logger).toBe(false);
});

test('a pattern with the full name of a resource applies to what its module writes about it, in any language', () => {
  const levels = new Levels();
  const names = () => ['core:component:sensor/door', 'core:component:sensor/door.left'];
  const modules = new Map([
    ['cam', 'warn'],
    ['my.cam', ''],
  ]);
  const patterns = [{ pattern: 'core:component:sensor/door', level: 'debug' }];
  levels.set({ debug: false, patterns, resources: new Map(), modules, names });
  for (const logger of [
    'modules.cam.core:component:sensor/door',
    'modules.my.cam.rdk:component:sensor/door',
    'modules.cam.core:component:sensor/door.driver',
    'modules.cam.door',
  ])
    expect([logger, levels.of(logger)]).toEqual([logger, 'debug']);
  // The public SDK for Python writes the dots of a name as slashes.
  for (const logger of ['modules.cam.core:component:sensor/door.left', 'modules.cam.core:component:sensor/door/left'])
    expect([logger, levels.of(logger)]).toEqual([logger, 'warn']);
});

test('a pattern for a module applies to all its lines, and overrides its log_level; debug mode overrides both', () => {
  const levels = new Levels();
  const modules = new Map([['cam', 'error']]);
  for (const pattern of ['cam', 'modules.cam', 'modules\\.ca.']) {
    levels.set({ debug: false, patterns: [{ pattern, level: 'debug' }], resources: new Map(), modules });
    for (const logger of ['modules.cam', 'modules.cam.driver', 'modules.cam.core:component:sensor/door'])
      expect([pattern, logger, levels.of(logger)]).toEqual([pattern, logger, 'debug']);
    expect(levels.of('modules.camera')).toBe('info');
  }
});

test('D48 of thousands of patterns the first thousand have an effect, and a problem says so', () => {
  const levels = new Levels();
  const patterns = Array.from({ length: 20_000 }, (_, at) => ({ pattern: `logger${at}`, level: 'debug' }));
  const message = 'expected at most 1000 patterns, found 20000: the last ones have no effect';
  expect(levels.set({ debug: false, patterns, resources: new Map() })).toEqual([
    { path: 'log', level: 'warning', message },
  ]);
  expect([levels.passes('debug', 'logger999'), levels.passes('debug', 'logger1000')]).toEqual([true, false]);
});
