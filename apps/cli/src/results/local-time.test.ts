import { afterEach, beforeEach, expect, test } from 'vitest';
import { localTime } from './local-time.ts';

const before = process.env['TZ'];
beforeEach(() => {
  process.env['TZ'] = 'America/St_Johns';
});
afterEach(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

test.each([
  ['2026-11-23T01:03:34.000Z', '2026-11-22 21:33:34-03:30'],
  // Summer time.
  ['2026-07-01T12:00:00.250Z', '2026-07-01 09:30:00.250-02:30'],
  ['2026-07-01T12:00:00.000501Z', '2026-07-01 09:30:00.000501-02:30'],
  ['2026-07-01', '2026-07-01'],
  ['2026-99-01T12:00:00Z', '2026-99-01T12:00:00Z'],
  ['at 2026-07-01T12:00:00Z', 'at 2026-07-01T12:00:00Z'],
])('%s is %s', (text, expected) => {
  expect(localTime(text)).toBe(expected);
});
