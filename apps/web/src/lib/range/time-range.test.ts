import { expect, test } from 'vitest';
import {
  boundsOf,
  boundsStage,
  boundsWords,
  pollMs,
  rangeOf,
  rangeOfStored,
  rangeText,
  spanUntilNow,
  storedRange,
} from './time-range.ts';

const [from, until] = [new Date('2026-11-30T22:15:00Z'), new Date('2026-11-30T23:00:00Z')];
const span = { from, until };
const nowMs = Date.parse('2026-12-01T12:00:30Z');

test.each([
  [3_600_000, '3600000'],
  [0, '0'],
  [span, '2026-11-30T22:15:00.000Z/2026-11-30T23:00:00.000Z'],
  [{ from, until: undefined }, '2026-11-30T22:15:00.000Z/..'],
  [{ from: undefined, until }, '../2026-11-30T23:00:00.000Z'],
])('the range %j is %s in an address, and is read back', (range, text) => {
  expect(rangeText(range)).toBe(text);
  expect(rangeOf(text)).toEqual(range);
});

test('texts of an address that are no ranges are ignored', () => {
  const odd = [null, '', 'soon', '-1', '1e99', 'NaN', '../..', 'a/b', '2026-12-01T00:00:00Z/2026-11-30T00:00:00Z'];
  for (const text of odd) expect(rangeOf(text), String(text)).toBeUndefined();
});

test('a range up to now moves; one with both times stays', () => {
  expect(boundsOf(0, nowMs)).toEqual({});
  expect(boundsOf(60_000, nowMs)).toEqual({ since: '2026-12-01T11:59:30.000Z' });
  expect(boundsOf(span, nowMs)).toEqual({ since: from.toISOString(), until: until.toISOString() });
  expect(boundsOf({ from: undefined, until }, nowMs)).toEqual({ until: until.toISOString() });
});

test('the page shows what a range adds to a query, in its language', () => {
  const bounds = { since: 'A', until: 'B' };
  expect(boundsWords(bounds, 'mql')).toBe('{"$match":{"time_received":{"$gte":"A","$lt":"B"}}}');
  expect(boundsWords(bounds, 'sql')).toBe("WHERE time_received >= 'A' AND time_received < 'B'");
  expect(boundsWords({ until: 'B' }, 'sql')).toBe("WHERE time_received < 'B'");
  expect(boundsWords({}, 'sql')).toBe('');
  expect(boundsStage(bounds)).toEqual({ $match: { time_received: { $gte: { $date: 'A' }, $lt: { $date: 'B' } } } });
  expect(boundsStage({})).toBeUndefined();
});

test('stored ranges are read back; others wrote metadata, too', () => {
  for (const range of [span, 60_000, 0]) expect(rangeOfStored(storedRange(range))).toEqual(range);
  expect(rangeOfStored({ range: 'a/b', rangeMs: 7 })).toBe(7);
  expect(rangeOfStored({ range: 7, rangeMs: 'x' })).toBe(3_600_000);
});

test('absolute times begin with those of the range before', () => {
  expect(spanUntilNow(3_600_000, nowMs)).toEqual({
    from: new Date('2026-12-01T11:01:00Z'),
    until: new Date('2026-12-01T12:01:00Z'),
  });
  expect(spanUntilNow(0, nowMs).from).toEqual(new Date('2026-11-30T12:01:00Z'));
  expect(spanUntilNow(span, nowMs)).toBe(span);
});

test('a range that is over is asked for less often', () => {
  expect(pollMs(span, 5_000, nowMs)).toBe(60_000);
  expect(pollMs(span, 5_000, until.getTime())).toBe(5_000);
  expect(pollMs({ from, until: undefined }, 5_000, nowMs)).toBe(5_000);
  expect(pollMs(0, 5_000, nowMs)).toBe(5_000);
});
