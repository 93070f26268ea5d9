import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDecimal, partsOfNumber } from '../../bson/decimal.ts';
import { encodeBson } from '../../bson/encode.ts';
import { BsonDocument, type BsonValue, type Decimal128, Int32 } from '../../bson/value.ts';
import { ExactSum } from './exact-sum.ts';

function decimal(text: string): Decimal128 {
  const value = parseDecimal(text);
  if (value === undefined) throw new Error(text);
  return value;
}

function sumOf(values: readonly BsonValue[]): ExactSum {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum;
}

/** Bytes of the total and of the mean. */
function resultOf(sum: ExactSum): string {
  const result = BsonDocument.of({ total: sum.total(), mean: sum.count === 0 ? null : sum.mean() });
  return Buffer.from(encodeBson(result)).toString('hex');
}

/** The number as a whole multiple of 10^-1074, which every double is. */
function exact(value: number): bigint {
  const { negative, coefficient, exponent } = partsOfNumber(value);
  const size = coefficient * 10n ** BigInt(1074 + exponent);
  return negative ? -size : size;
}

/** The neighbouring doubles on both sides. */
function besides(value: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  return [1n, -1n].map((step) => {
    view.setFloat64(0, value === 0 ? 0 : Math.abs(value));
    const bits = view.getBigInt64(0) + step;
    view.setBigInt64(0, bits < 0n ? -(2n ** 63n) + 1n : bits);
    return value < 0 ? -view.getFloat64(0) : view.getFloat64(0);
  });
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);

/** Close to each other, far apart, cancelling, and at both limits of the doubles. */
const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e16, -1e16, 1, 2 ** -53, 2 ** -54, -(2 ** -107), 5e-324, 0.1, 1e300, -1e300, -0),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 970, -(2 ** 970), 2 ** -1022),
);

test('the sum of doubles is the double nearest to their exact sum', () => {
  fc.assert(
    fc.property(fc.array(double, { minLength: 1, maxLength: 12 }), (values) => {
      const total = sumOf(values).total();
      const wanted = values.reduce((sum, value) => sum + exact(value), 0n);
      if (typeof total !== 'number') throw new Error('not a double');
      if (!Number.isFinite(total)) {
        expect(size(wanted)).toBeGreaterThanOrEqual(exact(Number.MAX_VALUE) + exact(2 ** 970));
        return;
      }
      const away = size(wanted - exact(total));
      for (const other of besides(total)) {
        if (Number.isFinite(other)) expect(size(wanted - exact(other))).toBeGreaterThanOrEqual(away);
      }
    }),
    { numRuns: 700 },
  );
});

const number: fc.Arbitrary<BsonValue> = fc.oneof(
  double,
  fc.constantFrom<BsonValue>(new Int32(7), new Int32(-(2 ** 31)), 2n ** 62n, -(2n ** 63n), 3n),
  fc.constantFrom<BsonValue>(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 'no number', null),
);
const withDecimals = fc.oneof(
  number,
  fc.constantFrom<BsonValue>(
    ...['0.1', '1E+20', '-1E+20', '7E-30', '9.999', '0E-50', '-Infinity'].map((text) => decimal(text)),
  ),
);

test.each([
  ['integers and doubles', number],
  ['decimals too', withDecimals],
])('neither order nor splitting changes the sum of numbers of all types: %s', (_title, values) => {
  fc.assert(
    fc.property(fc.array(values, { maxLength: 12 }), fc.array(fc.nat(12), { maxLength: 3 }), (all, cuts) => {
      const wanted = resultOf(sumOf(all));
      expect(resultOf(sumOf(all.toReversed()))).toBe(wanted);
      const merged = new ExactSum();
      const ends = [...cuts.toSorted((a, b) => a - b), all.length];
      for (const [index, end] of ends.entries()) {
        merged.merge(sumOf(all.slice(index === 0 ? 0 : ends[index - 1], end)).partial());
      }
      expect(resultOf(merged)).toBe(wanted);
    }),
    { numRuns: 400 },
  );
});

test.each<[string, readonly BsonValue[], BsonValue]>([
  ['ints stay ints', [new Int32(1), new Int32(2)], new Int32(3)],
  ['but for one that needs a long', [new Int32(2 ** 31 - 1), new Int32(1)], 2n ** 31n],
  ['a long makes a long', [new Int32(1), 2n], 3n],
  ['beyond 64 bits is a double', [2n ** 63n - 1n, 1n], 2 ** 63],
  ['on the way there is not', [2n ** 63n - 1n, 1n, -2n], 2n ** 63n - 2n],
  ['tenths add up', [0.1, 0.2, 0.3], 0.6],
  ['what is small is not lost to what is large', [1e16, 1, 1, -1e16], 2],
  ['nor to integers', [2n ** 62n, 0.5, -(2n ** 62n)], 0.5],
  ['too large on the way', [Number.MAX_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE], Number.MAX_VALUE],
  ['too large', [Number.MAX_VALUE, Number.MAX_VALUE], Number.POSITIVE_INFINITY],
  ['both infinities', [Number.POSITIVE_INFINITY, 1, Number.NEGATIVE_INFINITY], Number.NaN],
  ['decimals far apart', [decimal('1E+40'), decimal('1'), decimal('-1E+40')], decimal('1')],
  [
    'a decimal holds what doubles do not',
    [Number.MAX_VALUE, Number.MAX_VALUE, decimal('1')],
    decimal('3.595386269724631416290548474634087E+308'),
  ],
])('%s', (_title, values, total) => {
  expect(sumOf(values).total()).toEqual(total);
});

test('a state that no sum produced is refused', () => {
  expect(() => new ExactSum().merge(new Int32(1))).toThrow('the state of a sum');
  expect(() => new ExactSum().merge(new BsonDocument())).toThrow('a whole number');
});
