import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxAttempts, outcomeOf, retryAfterMs, waitMs } from './classify.ts';

test('D23 2xx is accepted, 408, 425, 429 and 5xx are retried, everything else is final', () => {
  const outcomes = new Map<string, number[]>();
  for (let status = 100; status < 600; status++) {
    const outcome = outcomeOf(status);
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), status]);
  }
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
  expect(outcomes.get('accepted')).toEqual(range(200, 300));
  expect(outcomes.get('retryLater')).toEqual([408, 425, 429, ...range(500, 600)]);
  expect(outcomes.get('rejected')).toContain(404);
  expect(outcomes.get('rejected')).toContain(410);
  expect(outcomes.get('rejected')).toContain(301);
});

test('D23 the waits are as specified, with a random deviation of ±20 %', () => {
  const nominal = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1_000);
  expect(nominal.map((_, made) => waitMs(made, undefined, () => 0.5))).toEqual(nominal);
  expect(waitMs(1, undefined, () => 0)).toBe(4_000);
  expect(waitMs(1, undefined, () => 1)).toBe(6_000);
  expect(waitMs(maxAttempts, undefined)).toBe(undefined);
});

test('D23 Retry-After lengthens a wait to at most twice its length and at most a day, and never shortens it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 7 }),
      fc.nat(10 ** 9),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (made, asked, drawn) => {
        const nominal = waitMs(made, undefined, () => 0.5) ?? 0;
        const plain = waitMs(made, undefined, () => drawn) ?? 0;
        const wait = waitMs(made, asked, () => drawn) ?? 0;
        expect(wait).toBeGreaterThanOrEqual(plain);
        expect(wait).toBeLessThanOrEqual(Math.max(plain, Math.min(2 * nominal, 86_400_000)));
        if (asked >= plain && asked <= 2 * nominal) expect(wait).toBe(Math.min(asked, 86_400_000));
      },
    ),
  );
});

test.each([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['0', 0],
  ['Thu, 01 Jan 1970 00:00:30 GMT', 20_000],
  ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  [undefined, undefined],
])('Retry-After %j is %s ms', (header, expected) => {
  expect(retryAfterMs(header, 10_000)).toBe(expected);
});
