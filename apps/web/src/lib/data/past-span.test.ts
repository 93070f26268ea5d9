import { expect, test } from 'vitest';
import { pastSpan } from './past-span.ts';

const nowMs = Date.parse('2026-12-01T12:00:00Z');
const hourMs = 3_600_000;
const [from, until] = [new Date('2026-11-20T00:00:00Z'), new Date('2026-11-22T00:00:00Z')];

test('one series has charts of the whole range, and of a day without one', () => {
  expect(pastSpan(0, true, nowMs)).toEqual({ fromMs: nowMs - 24 * hourMs, untilMs: undefined, isSampled: false });
  expect(pastSpan(hourMs, true, nowMs)).toEqual({ fromMs: nowMs - hourMs, untilMs: undefined, isSampled: true });
  const span = { fromMs: from.getTime(), untilMs: until.getTime(), isSampled: true };
  expect(pastSpan({ from, until }, true, nowMs)).toEqual(span);
  // An open beginning: a day.
  expect(pastSpan({ from: undefined, until }, true, nowMs)).toMatchObject({ fromMs: until.getTime() - 24 * hourMs });
  expect(pastSpan({ from, until: undefined }, true, nowMs)).toMatchObject({ ...span, untilMs: undefined });
});

test('the lines of several series have at most the last hour of the range', () => {
  expect(pastSpan(0, false, nowMs)).toMatchObject({ fromMs: nowMs - hourMs, isSampled: false });
  expect(pastSpan(60_000, false, nowMs)).toMatchObject({ fromMs: nowMs - 60_000 });
  expect(pastSpan({ from, until }, false, nowMs)).toEqual({
    ...{ fromMs: until.getTime() - hourMs, untilMs: until.getTime(), isSampled: false },
  });
});
