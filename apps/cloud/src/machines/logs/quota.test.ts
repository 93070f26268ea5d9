import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogQuota } from './quota.ts';

const allowance = { linesPerMinute: 100, bytesPerMinute: 10_000, bytesPerDay: 50_000 };
const admitted = (quota: LogQuota, count: number, level: string, nowMs: number, bytes = 1, day = 1): number =>
  Array.from({ length: count }, () => quota.admits(level, bytes, nowMs, day)).filter(Boolean).length;

test("a minute's worth of lines is admitted at once, further ones over time, and the last tenth is for warnings and errors", () => {
  const quota = new LogQuota(() => allowance, 0, 1, 0);
  expect(admitted(quota, 200, 'info', 0)).toBe(90);
  expect(admitted(quota, 200, 'error', 0)).toBe(10);
  expect(admitted(quota, 200, 'error', 6_000)).toBe(10);
  expect(admitted(quota, 200, 'info', 60_000 * 5)).toBe(90);
});

test('bytes are limited in addition to lines, by the minute and by the day', () => {
  const quota = new LogQuota(() => allowance, 0, 1, 0);
  expect(admitted(quota, 50, 'error', 0, 1_000)).toBe(10);
  const full = new LogQuota(() => allowance, 0, 1, 49_000);
  expect(admitted(full, 50, 'info', 0, 1_000)).toBe(0);
  expect(admitted(full, 50, 'error', 0, 1_000)).toBe(1);
  expect(full.takeLeftOut(0)).toMatchObject({ lines: 99, allowance: 'day' });
  expect(admitted(full, 5, 'info', 60_000, 1_000, 2)).toBe(5);
});

test('a changed limit applies from the next line on', () => {
  let lines = 100;
  const quota = new LogQuota(() => ({ ...allowance, linesPerMinute: lines }), 0, 1, 0);
  lines = 10;
  expect(admitted(quota, 200, 'error', 0)).toBe(10);
  lines = 1_000;
  expect(admitted(quota, 2_000, 'error', 6_000)).toBe(100);
});

test('dropped lines are reported once, and at most once a minute', () => {
  const quota = new LogQuota(() => allowance, 0, 1, 0);
  admitted(quota, 93, 'info', 0);
  expect(quota.takeLeftOut(0)).toEqual({ lines: 3, bytes: 3, allowance: 'minute', allowed: allowance });
  expect(quota.takeLeftOut(70_000)).toBeUndefined();
  admitted(quota, 200, 'info', 70_000);
  expect(quota.takeLeftOut(70_000)).toMatchObject({ lines: 110 });
  admitted(quota, 10, 'info', 70_000);
  expect(quota.takeLeftOut(80_000)).toBeUndefined();
  expect(quota.takeLeftOut(130_000)).toMatchObject({ lines: 10 });
});

test('whatever a machine sends, no window exceeds its allowance, and every line is either admitted or reported', () => {
  const step = fc.record({ waitMs: fc.nat(30_000), lines: fc.nat(150), bytes: fc.integer({ min: 1, max: 500 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const quota = new LogQuota(() => allowance, 0, 1, 0);
      let nowMs = 0;
      let sent = 0;
      let lines = 0;
      let bytes = 0;
      for (const { waitMs, lines: count, bytes: each } of steps) {
        nowMs += waitMs;
        const more = admitted(quota, count, 'error', nowMs, each);
        sent += count;
        lines += more;
        bytes += more * each;
      }
      const minutes = nowMs / 60_000;
      expect(lines).toBeLessThanOrEqual(allowance.linesPerMinute * (1 + minutes) + 1e-6);
      expect(bytes).toBeLessThanOrEqual(
        Math.min(allowance.bytesPerMinute * (1 + minutes), allowance.bytesPerDay) + 1e-6,
      );
      expect(lines + (quota.takeLeftOut(nowMs)?.lines ?? 0)).toBe(sent);
    }),
  );
});
