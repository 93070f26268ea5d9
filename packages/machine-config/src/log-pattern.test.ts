import { expect, test } from 'vitest';
import { compileLogPattern, namesOfLogger } from './log-pattern.ts';

const door = namesOfLogger('resources.core:component:sensor/door');
const matches = (pattern: string, names: readonly string[] = door): boolean => {
  const test = compileLogPattern(pattern);
  if (typeof test === 'string') throw new Error(test);
  return names.some(test);
};

test('a pattern is a regular expression that matches the whole full name of a resource, with core: or rdk:, or its name', () => {
  for (const pattern of [
    'core:component:sensor/door',
    'rdk:component:sensor/door',
    'core:component:sensor/.*',
    '^core:component:(sensor|camera)/d[o]{2}r$',
    '.*door',
    '.*/(?i)DOOR',
    'door',
    '.*',
  ])
    expect([pattern, matches(pattern)]).toEqual([pattern, true]);
  for (const pattern of ['component:sensor', 'core:component:sensor/doo', 'core:component:camera/.*', 'sensor/door'])
    expect([pattern, matches(pattern)]).toEqual([pattern, false]);
});

test('patterns of public machine-servers match as there: * is any text, and loggers have their names', () => {
  for (const pattern of [
    '*',
    'rdk.*',
    'rdk.resource_manager.*',
    'rdk.resource_manager.rdk:component:sensor/door',
    'core:component:sensor/*',
    'rdk:*:sensor/door',
    '*.rdk:component:sensor/door',
  ])
    expect([pattern, matches(pattern)]).toEqual([pattern, true]);
  expect(matches('rdk.resource_manager')).toBe(false);
  expect(matches('sync', namesOfLogger('sync'))).toBe(true);
  expect(matches('rdk.sync', namesOfLogger('sync'))).toBe(true);
  expect(matches('syn', namesOfLogger('sync'))).toBe(false);
});

test('the resource of a logger is found whatever its name contains', () => {
  expect(namesOfLogger('capture.acme:component:gauge/a.b c')).toEqual([
    'capture.acme:component:gauge/a.b c',
    'acme:component:gauge/a.b c',
    'acme:component:gauge/a.b c',
    'a.b c',
    'rdk.resource_manager.acme:component:gauge/a.b c',
  ]);
  expect(namesOfLogger('')).toEqual(['', 'rdk.']);
});

test('the full name of a resource matches what modules in Go, Python and TypeScript write about it', () => {
  for (const logger of ['modules.cam.core:component:sensor/door', 'modules.my.cam.rdk:component:sensor/door'])
    for (const pattern of [
      'core:component:sensor/door',
      'rdk:component:sensor/do+r',
      'core:component:sensor/*',
      'door',
    ])
      expect([logger, pattern, matches(pattern, namesOfLogger(logger))]).toEqual([logger, pattern, true]);
});

test('an invalid pattern is described; a pattern that backtracks elsewhere runs in linear time', () => {
  expect(compileLogPattern('(')).toBe(
    'expected a regular expression (RE2 syntax), found "(" (error parsing regexp: missing closing ): `(`)',
  );
  expect(compileLogPattern('(?=a)')).toMatch(/^expected a regular expression \(RE2 syntax\), found "\(\?=a\)"/);
  expect(compileLogPattern('a'.repeat(1_001))).toBe(
    'expected a regular expression of at most 1000 characters, found 1001',
  );
  expect(matches('(a|a|aa)+(a|aa)+(.*)*!', [`${'a'.repeat(100_000)}`])).toBe(false);
});
