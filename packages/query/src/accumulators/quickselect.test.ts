import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quickselect } from './quickselect.ts';

const few = fc.constantFrom(0, -0, 1, -1, 2.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
const numbers = fc.array(fc.oneof(few, fc.double({ noNaN: true })), { minLength: 1, maxLength: 300 });

test('the selected number is the one at its position among the sorted numbers', () => {
  fc.assert(
    fc.property(numbers, fc.nat(), (all, place) => {
      const rank = place % all.length;
      expect(Object.is(quickselect(Float64Array.from(all), rank), Float64Array.from(all).sort()[rank])).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('selection is fast for numbers in any order: in quadratic time, a million of them would exceed the time limit of a test', () => {
  const size = 1_000_000;
  const orders: ((n: number) => number)[] = [(n) => n, (n) => -n, () => 7, (n) => n % 2, (n) => Math.abs(n - size / 2)];
  for (const order of orders) {
    const all = Float64Array.from({ length: size }, (_, n) => order(n));
    const found = quickselect(all.slice(), size / 4);
    expect(found).toBe(all.sort()[size / 4]);
  }
});
