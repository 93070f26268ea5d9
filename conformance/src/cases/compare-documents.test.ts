import { BsonDocument, type BsonValue, Int32, ObjectId } from '@platform/query';
import { describe, expect, test } from 'vitest';
import { type Looseness, sameDocuments } from './compare-documents.ts';

const ordered: Looseness = { ordered: true };

describe('exactly the same', () => {
  test.each<[string, BsonValue, BsonValue]>([
    ['an int is not a long', new Int32(1), 1n],
    ['an int is not a double', new Int32(1), 1],
    ['a zero is not a negative zero', 0, -0],
    ['a null is not a missing field', BsonDocument.of({ a: null }), BsonDocument.of({})],
    ['the order of fields counts', BsonDocument.of({ a: 1, b: 2 }), BsonDocument.of({ b: 2, a: 1 })],
    ['the order of an array counts', [1, 2], [2, 1]],
  ])('%s', (_, left, right) => {
    expect(same(left, right, ordered)).toBe(false);
    expect(same(left, left, ordered)).toBe(true);
    expect(same(right, right, ordered)).toBe(true);
  });

  test('NaN is the same as NaN', () => {
    expect(same(Number.NaN, Number.NaN, ordered)).toBe(true);
  });
});

test('documents without an order are compared as a multiset', () => {
  const [one, two] = [BsonDocument.of({ a: 1 }), BsonDocument.of({ a: 2 })];
  expect(sameDocuments([one, two], [two, one], { ordered: false })).toBe(true);
  expect(sameDocuments([one, two], [two, one], ordered)).toBe(false);
  expect(sameDocuments([one, one, two], [one, two, two], { ordered: false })).toBe(false);
  expect(sameDocuments([one], [one, one], { ordered: false })).toBe(false);
});

test('a generated _id is ignored, any other _id is not', () => {
  const looseness = { ordered: true, generatedIds: true };
  const withId = (id: BsonValue): BsonDocument => BsonDocument.of({ _id: id, a: 1 });
  const generated = new ObjectId(new Uint8Array(12));
  expect(sameDocuments([withId(generated)], [BsonDocument.of({ a: 1 })], looseness)).toBe(true);
  expect(sameDocuments([withId(1)], [withId(2)], looseness)).toBe(false);
  expect(sameDocuments([withId(generated)], [BsonDocument.of({ a: 1 })], ordered)).toBe(false);
});

test('an array at a path declared as a set may have any order, others may not', () => {
  const document = (set: BsonValue[], list: BsonValue[]): BsonDocument =>
    BsonDocument.of({ a: [BsonDocument.of({ set })], list });
  const looseness = { ordered: true, ignoreOrderIn: ['a.set', 'not.there'] };
  expect(sameDocuments([document([1, 2], [1, 2])], [document([2, 1], [1, 2])], looseness)).toBe(true);
  expect(sameDocuments([document([1, 2], [1, 2])], [document([2, 1], [2, 1])], looseness)).toBe(false);
  expect(sameDocuments([document([1, 1, 2], [])], [document([1, 2, 2], [])], looseness)).toBe(false);
});

function same(left: BsonValue, right: BsonValue, looseness: Looseness): boolean {
  return sameDocuments([BsonDocument.of({ value: left })], [BsonDocument.of({ value: right })], looseness);
}
