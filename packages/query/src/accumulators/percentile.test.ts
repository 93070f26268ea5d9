import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BsonDocument } from '../bson/value.ts';
import { packed } from './packed-numbers.ts';
import { Percentiles } from './percentile.ts';

const p = [0, 0.1, 0.25, 0.5, 0.9, 1];
const open = () =>
  new Percentiles(
    () => {},
    p,
    (found) => [...found],
  );

/** As a store returns them: each number once, zero without a sign. */
function counted(numbers: readonly number[]): BsonDocument {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number + 0, (counts.get(number + 0) ?? 0) + 1);
  return BsonDocument.of({
    values: packed(Float64Array.from(counts.keys())),
    counts: packed(Float64Array.from(counts.values())),
  });
}

const few = fc.array(
  fc.constantFrom(-2, -1, 0, 0.5, 1, 3, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN),
);
const any = fc.array(fc.oneof(fc.constantFrom(-0, 0, 1, Number.NaN), fc.double()));

test('percentiles of counted, packed and single numbers together equal those of all numbers', () => {
  fc.assert(
    fc.property(few, few, any, any, (one, other, list, single) => {
      const all = open();
      for (const number of [...one, ...other, ...list, ...single]) all.add(number);
      const parts = open();
      for (const number of single) parts.add(number);
      parts.merge(counted(one));
      parts.merge(packed(Float64Array.from(list)));
      parts.merge(counted(other));
      const again = open();
      again.merge(parts.partial());
      expect(parts.result()).toEqual(all.result());
      expect(again.result()).toEqual(all.result());
    }),
  );
});
