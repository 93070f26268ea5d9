import { expect, test } from 'vitest';
import { wouldHaveFired } from './would-have-fired.ts';

const counts = { fired: 14n, sent: 5n, suppressedByInterval: 9n, readings: 1_200n, lines: 0n };
const found = { ...counts, disabled: false, notRunBecause: '' };
const off = ' This trigger is disabled: it does nothing until it is enabled.';

test('a dry run says how often the trigger would have fired, and whether it is disabled', () => {
  const said =
    'Would have fired 14 times in the last 24 hours and notified 5 times; the interval held back 9. Checked 1200 readings and 0 log lines.';
  expect(wouldHaveFired(found)).toBe(said);
  expect(wouldHaveFired({ ...found, disabled: true })).toBe(said + off);
  expect(wouldHaveFired({ ...found, fired: 1n, sent: 1n })).toContain('once in the last 24 hours and notified once;');
});

test('a dry run that is not possible says why, and whether the trigger is disabled', () => {
  const notRun = { ...found, notRunBecause: 'it is not stored' };
  expect(wouldHaveFired(notRun)).toBe('It cannot run on past data: it is not stored.');
  expect(wouldHaveFired({ ...notRun, disabled: true })).toBe(`It cannot run on past data: it is not stored.${off}`);
});
