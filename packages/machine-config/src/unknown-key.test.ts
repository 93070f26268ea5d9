import { expect, test } from 'vitest';
import { parse } from './parse.ts';

const warning = (document: unknown): string | undefined => parse(document).problems[0]?.message;

test('an unknown key is reported with the closest known one first and at most eight others', () => {
  expect(warning({ triggerz: [] })).toBe(
    'expected one of triggers, components, services, modules, remotes, processes, packages, fragments, fragment_mods and 14 more, found "triggerz" (closest: triggers): this key has no effect',
  );
  expect(warning({ Data_Retention_Polcy: {} })).toMatch(/^expected one of data_retention_policy, .* and 14 more, /);
});

test('if there are few known keys, all of them are listed', () => {
  expect(warning({ data_retention_policy: { dayz: 1 } })).toBe(
    'expected one of days, found "dayz" (closest: days): this key has no effect',
  );
  expect(warning({ log: [{ pattern: 'a', level: 'info', lvl: 'x' }] })).toBe(
    'expected one of level, pattern, found "lvl" (closest: level): this key has no effect',
  );
});

test('a key that resembles none is reported without a closest one', () => {
  expect(warning({ data_retention_policy: { elephants: 1 } })).toBe(
    'expected one of days, found "elephants": this key has no effect',
  );
});

test('a key of any length is reported in a short warning', () => {
  const message = warning({ ['x'.repeat(1_000_000)]: 1 });
  expect(message).toContain('this key has no effect');
  expect(message?.length).toBeLessThan(400);
});
