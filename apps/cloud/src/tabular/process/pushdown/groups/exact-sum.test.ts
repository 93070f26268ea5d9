import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NumberFacts } from '../../files/file-facts.ts';
import { exactProduct, partsOfWhole, sumPlan, sumsSql } from './exact-sum.ts';

/** A double as an integer multiple of 2^-1074. */
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

const valuesAlike = fc.oneof(
  fc.array(value, { minLength: 1, maxLength: 60 }),
  fc.array(fc.constantFrom(2 ** 40, 3, 2 ** -40, -(2 ** -41)), { minLength: 1, maxLength: 20 }),
  fc.array(fc.integer({ min: -99, max: 99 }), { minLength: 1, maxLength: 60 }),
);

test('the parts that DuckDB adds give the exact sum in any order, wherever they are used', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const used = new Set<string>();
  await fc.assert(
    fc.asyncProperty(valuesAlike, fc.constantFrom(1, 1e3, 1e6, 1e9), async (values, factor) => {
      const rowsBeside = factor * values.length;
      const plan = sumPlan([{ rows: rowsBeside, number: factsOf(values) }]);
      if (plan === undefined) return;
      used.add(plan.k === 'whole' ? 'whole' : `${plan.split.length} parts`);
      const rows = values.map((each) => `(${Object.is(each, -0) ? '-0.0' : each.toExponential()}::DOUBLE)`).join(', ');
      const read = await connection.runAndReadAll(`SELECT ${sumsSql('v', plan).join(', ')} FROM (VALUES ${rows}) t(v)`);
      const found = read.getRows()[0] ?? [];
      const parts = plan.k === 'whole' ? partsOfWhole(found[0] as bigint, plan.lowest) : found.map(Number);
      expect(parts.reduce((sum, part) => sum + units(part), 0n)).toBe(
        values.reduce((sum, each) => sum + units(each), 0n),
      );
    }),
    { numRuns: 200 },
  );
  expect([...used].sort()).toEqual(['0 parts', '1 parts', '2 parts', 'whole']);
  connection.closeSync();
});

test('sums of values with many bits in many rows are refused, never rounded', () => {
  const number = { min: 2 ** -300, max: 1e200, lowestBit: -352, negativeZero: false, nonFinite: false };
  const rows = 5_000_000;
  expect(sumPlan([{ rows, number }])).toBeUndefined();
  expect(sumPlan([{ rows, number: { ...number, min: 0, max: 40, lowestBit: -47 } }])).toMatchObject({ k: 'whole' });
  expect(sumPlan([{ rows, number: { ...number, min: 0, max: 40, lowestBit: -60 } }])).toMatchObject({ k: 'parts' });
  expect(sumPlan([{ rows, number: { ...number, min: 0, max: 40, lowestBit: 0 } }])).toEqual({ k: 'parts', split: [] });
  expect(sumPlan([{ rows: 2, number: { ...number, nonFinite: true } }])).toBeUndefined();
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
