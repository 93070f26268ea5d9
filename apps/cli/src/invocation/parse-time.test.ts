import type { Clock } from '@platform/sdk/cloud';
import { systemClock } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { spanMs, timeAfter, timeBefore } from './parse-time.ts';

const clock: Clock = { ...systemClock, now: () => Date.UTC(2027, 0, 31) };

test('a duration counts back or ahead from now; a time is used unchanged; anything else is refused with the option', () => {
  expect(timeBefore('2h', '--since', clock).toISOString()).toBe('2027-01-30T22:00:00.000Z');
  expect(timeAfter('2w', '--expires', clock).toISOString()).toBe('2027-02-14T00:00:00.000Z');
  expect(timeAfter('2027-06-01', '--expires', clock).toISOString()).toBe('2027-06-01T00:00:00.000Z');
  expect(spanMs('10m', '--timeout')).toBe(600_000);
  for (const text of ['yesterday', '', '5', '-1h', `${'9'.repeat(30)}d`]) {
    expect(() => timeBefore(`${text}?`, '--since', clock), text).toThrow('--since: expected a duration');
    expect(() => spanMs(text === '5' ? '0s' : `${text} `, '--timeout'), text).toThrow('--timeout: expected a duration');
  }
});
