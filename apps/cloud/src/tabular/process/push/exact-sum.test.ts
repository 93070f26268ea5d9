import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NumberFacts } from '../file-facts.ts';
import { exactProduct, partSums, splitOf } from './exact-sum.ts';

/** A double as a whole number of 2^-1074. */
function units(value: number): bigint {
  let exponent = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent++;
  }
  return BigInt(scaled) * 2n ** BigInt(1_074 - exponent);
}

function lowestBit(value: number): number {
  if (value === 0) return 0;
  let exponent = -1_074;
  let rest = units(value);
  while (rest % 2n === 0n) {
    rest /= 2n;
    exponent++;
  }
  return exponent;
}

function factsOf(values: readonly number[]): NumberFacts {
  return {
    min: Math.min(...values),
    max: Math.max(...values),
    lowestBit: Math.min(...values.map(lowestBit)),
    negativeZero: values.some((value) => Object.is(value, -0)),
    nonFinite: false,
  };
}

const value = fc.oneof(
  fc.float({ noNaN: true, min: -1_000, max: 1_000 }).map((each) => (Math.abs(each) < 2 ** -20 ? 0 : each)),
  fc.integer().map((whole) => whole * 2 ** -40),
  fc.double({ noNaN: true, min: 1, max: 1e9 }),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((whole) => whole / 100),
  fc.constantFrom(0, -0, 0.1, 1e15, 2 ** 52, 2 ** -30),
);

test('the parts that DuckDB adds up are the exact sum, whatever the order, wherever they are used', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  let used = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 60 }), async (values) => {
      const split = splitOf([{ rows: values.length, number: factsOf(values) }]);
      if (split === undefined) return;
      used++;
      const rows = values.map((each) => `(${Object.is(each, -0) ? '-0.0' : each.toExponential()}::DOUBLE)`).join(', ');
      const read = await connection.runAndReadAll(
        `SELECT ${partSums('v', split).join(', ')} FROM (VALUES ${rows}) t(v)`,
      );
      const parts = (read.getRows()[0] ?? []).map(Number);
      expect(parts.reduce((sum, part) => sum + units(part), 0n)).toBe(
        values.reduce((sum, each) => sum + units(each), 0n),
      );
    }),
    { numRuns: 200 },
  );
  expect(used).toBeGreaterThan(60);
  connection.closeSync();
});

test('a value of many bits in many rows is refused, never rounded', () => {
  const number = { min: 2 ** -300, max: 1e200, lowestBit: -352, negativeZero: false, nonFinite: false };
  expect(splitOf([{ rows: 1_000_000, number }])).toBeUndefined();
  expect(splitOf([{ rows: 5_000_000, number: { ...number, min: 0, max: 40, lowestBit: -47 } }])).toHaveLength(1);
  expect(splitOf([{ rows: 5_000_000, number: { ...number, min: 0, max: 40, lowestBit: 0 } }])).toEqual([]);
  expect(splitOf([{ rows: 2, number: { ...number, nonFinite: true } }])).toBeUndefined();
});

test('a constant times a count is exact', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
      fc.integer({ min: 1, max: 2 ** 40 }),
      (each, count) => {
        const parts = exactProduct(each, count);
        if (parts === undefined) return;
        expect(parts.reduce((sum, part) => sum + units(part), 0n)).toBe(units(each) * BigInt(count));
      },
    ),
  );
});
