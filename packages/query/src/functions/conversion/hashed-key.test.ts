import { expect, test } from 'vitest';
import { BsonUndefined } from '../../bson/value.ts';
import { evaluate } from '../../testing/evaluate.ts';

const hashed = (value: unknown): Promise<unknown> => evaluate({ $toHashedIndexKey: '$v' }, { v: value });

test('$toHashedIndexKey gives the values of hashed indexes', async () => {
  // Both from MongoDB: its manual, and shells that show the bounds of chunks.
  expect(await hashed('string to hash')).toBe(763543691661428748n);
  expect(await hashed(1)).toBe(5902408780260971510n);
});

test('numbers hash by their integer part, missing as null, arrays and documents by their contents', async () => {
  for (const one of [1n, 1.9]) expect(await hashed(one)).toBe(5902408780260971510n);
  for (const zero of [Number.NaN, -0.5]) expect(await hashed(zero)).toBe(await hashed(0));
  expect(await hashed(1e300)).toBe(await hashed(2n ** 63n - 1n));
  expect(await hashed(2 ** 63)).toBe(await hashed(-1e300));
  expect(await evaluate({ $toHashedIndexKey: '$missing' })).toBe(await hashed(null));
  expect(await hashed(new BsonUndefined())).not.toBe(await hashed(null));
  expect(await hashed({ a: [1] })).toBe(await hashed({ a: [1.5] }));
  expect(await hashed({ a: [1] })).not.toBe(await hashed({ b: [1] }));
  expect(await evaluate({ $toHashedIndexKey: [1] })).toBe(await hashed([1]));
});
