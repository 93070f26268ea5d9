/** The result of a moving window equals that of a fold over the same rows alone. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import { doc, runMql } from '../../testing/run.ts';

/** Functions whose result does not depend on the order of rounding, so both ways must agree to the byte. */
const functions: readonly object[] = [
  { $sum: '$v' },
  { $avg: '$v' },
  { $min: '$v' },
  { $max: '$v' },
  { $count: {} },
  { $push: '$v' },
  { $first: '$v' },
  { $last: '$v' },
  { $median: { input: '$v', method: 'approximate' } },
  { $percentile: { input: '$v', p: [0.1, 0.9], method: 'approximate' } },
  { $firstN: { n: 2, input: '$v' } },
  { $lastN: { n: 2, input: '$v' } },
  { $minN: { n: 2, input: '$v' } },
  { $maxN: { n: 2, input: '$v' } },
  { $topN: { n: 2, sortBy: { v: 1 }, output: '$t' } },
  { $bottom: { sortBy: { v: 1 }, output: '$t' } },
];

/** Sums of moving windows have the smallest integer type, so the long here is one that stays a long. */
const value = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom<unknown>(0.5, 2.25, Number.NaN, Number.POSITIVE_INFINITY, null, 'x', 2n ** 40n, true),
);
const cases = {
  values: fc.array(value, { minLength: 1, maxLength: 12 }),
  lower: fc.integer({ min: -4, max: 3 }),
  width: fc.integer({ min: 0, max: 5 }),
  fn: fc.constantFrom(...functions),
};

async function results(rows: readonly BsonDocument[], output: object): Promise<(BsonValue | undefined)[]> {
  const stage = { $setWindowFields: { sortBy: { t: 1 }, output: { r: output } } };
  return (await runMql(rows, [stage])).map((row) => row.get('r'));
}

test('a moving window of documents gives the same as its rows alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(cases), async ({ values, lower, width, fn }) => {
      const rows = values.map((each, t) => doc({ t, v: each }));
      const moving = await results(rows, { ...fn, window: { documents: [lower, lower + width] } });
      for (const [index, found] of moving.entries()) {
        const alone = rows.slice(Math.max(0, index + lower), Math.max(0, index + lower + width + 1));
        if (alone.length === 0) continue;
        expect(found).toEqual((await results(alone, fn))[0]);
      }
    }),
    { numRuns: 150 },
  );
});

test('a range over whole numbers equals the documents within it', async () => {
  const places = fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(places, cases.lower, cases.width, async (found, lower, width) => {
      const sorted = [...found].sort((left, right) => left - right);
      const rows = sorted.map((t) => doc({ t }));
      const counts = await results(rows, { $sum: 1, window: { range: [lower, lower + width] } });
      const wanted = sorted.map(
        (t) => new Int32(sorted.filter((other) => other >= t + lower && other <= t + lower + width).length),
      );
      expect(counts).toEqual(wanted);
    }),
    { numRuns: 150 },
  );
});
