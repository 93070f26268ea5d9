import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as fixed from '../../bson/fixed-point.ts';
import { acos, asin, atan, cos, exp, ln, sin, tan } from './exact-double.ts';

/** A double in fixed point, exactly. */
function exactly(value: number): bigint {
  return (BigInt(value * 2 ** 60) << fixed.fractionBits) >> 60n;
}

/** The nearest double of a fixed-point number. */
function nearest(value: bigint): number {
  const size = value < 0n ? -value : value;
  const drop = BigInt(size.toString(2).length - 53);
  const rest = size & ((1n << drop) - 1n);
  const half = 1n << (drop - 1n);
  const kept = (size >> drop) + (rest > half ? 1n : 0n);
  return (value < 0n ? -1 : 1) * Number(kept) * 2 ** (Number(drop) - Number(fixed.fractionBits));
}

/** Arguments that fixed point represents exactly. */
const small = fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((n) => n / 2 ** 38);

test('functions of doubles give the double nearest to the true value', () => {
  fc.assert(
    fc.property(small, (x) => {
      fc.pre(Math.abs(x) > 0.001);
      const value = exactly(x);
      const e = fixed.exp(value);
      const angle = fixed.sinCos(value);
      expect(exp(x)).toBe(nearest(e.shift < 0 ? e.value >> BigInt(-e.shift) : e.value << BigInt(e.shift)));
      expect(sin(x)).toBe(nearest(angle.sin));
      expect(cos(x)).toBe(nearest(angle.cos));
      expect(tan(x)).toBe(nearest(fixed.over(angle.sin, angle.cos)));
      expect(atan(x)).toBe(nearest(fixed.atan2(value, fixed.one)));
      if (x > 0 && x !== 1) expect(ln(x)).toBe(nearest(fixed.ln(value)));
      if (Math.abs(x) >= 1) return;
      const other = fixed.sqrt(fixed.one - fixed.times(value, value));
      expect(asin(x)).toBe(nearest(fixed.atan2(value, other)));
      expect(acos(x)).toBe(nearest(fixed.atan2(other, value)));
    }),
    { numRuns: 200 },
  );
});

test('results at the limits of the range are unchanged', () => {
  expect([exp(Number.NEGATIVE_INFINITY), exp(1000), exp(0), ln(1), ln(0)]).toEqual([
    0,
    Number.POSITIVE_INFINITY,
    1,
    0,
    Number.NEGATIVE_INFINITY,
  ]);
  expect([asin(1), acos(1), acos(-1), atan(Number.POSITIVE_INFINITY)]).toEqual([Math.PI / 2, 0, Math.PI, Math.PI / 2]);
  expect(Object.is(sin(-0), -0)).toBe(true);
  expect([sin(5e-324), exp(5e-324), cos(0)]).toEqual([5e-324, 1, 1]);
});
