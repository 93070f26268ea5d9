import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeBson } from '../bson/encode.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { parseMql } from '../mql/parse.ts';
import { bson, doc, run } from '../testing/run.ts';
import type { Path } from './expr.ts';
import { type FieldRead, fieldsRead } from './fields-read.ts';
import type { Stage } from './stage.ts';

const stagesOf = (...pipeline: object[]): readonly Stage[] => parseMql(pipeline.map(doc)).stages;

/** The row reduced to the requested fields: places first, in the row's order, then values in the order of the paths. */
function rebuilt(row: BsonDocument, fields: readonly FieldRead[]): BsonDocument {
  const paths = (as: FieldRead['as']): Path[] => fields.filter((each) => each.as === as).map(({ path }) => path);
  const result = places(row, paths('place'));
  for (const path of paths('value').toReversed()) put(result, row, path);
  return result;
}

function places(row: BsonDocument, paths: readonly Path[]): BsonDocument {
  const result = new BsonDocument();
  for (const [name, value] of row) {
    const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    if (below.length === 0) continue;
    const isWhole = !(value instanceof BsonDocument) || below.some((path) => path.length === 0);
    result.set(name, isWhole ? value : places(value, below));
  }
  return result;
}

function put(into: BsonDocument, row: BsonDocument, [name, ...rest]: Path): void {
  const value = row.get(name!);
  if (value === undefined) return;
  if (rest.length === 0 || Array.isArray(value)) {
    into.set(name!, value);
    return;
  }
  if (!(value instanceof BsonDocument)) return;
  const known = into.get(name!);
  const below = new BsonDocument(known instanceof BsonDocument ? known : []);
  put(below, value, rest);
  if (below.size > 0) into.set(name!, below);
}

const scalar: fc.Arbitrary<Maybe> = fc.constantFrom<unknown[]>(1, 2, 0.5, 'x', null, undefined).map((value) => {
  return value === undefined ? undefined : bson(value);
});
const value: fc.Arbitrary<Maybe> = fc.letrec<{ value: Maybe; object: Maybe; array: Maybe }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('object'), tie('array')),
  object: fc
    .uniqueArray(fc.tuple(fc.constantFrom<string[]>('a', 'b', 'c'), tie('value')), {
      selector: ([name]) => name,
      maxLength: 3,
    })
    .map((fields) => new BsonDocument(fields.filter((each): each is [string, BsonValue] => each[1] !== undefined))),
  array: fc.array(tie('value'), { maxLength: 2 }).map((items) => items.map((item) => item ?? null)),
})).value;
const row = fc
  .tuple(fc.shuffledSubarray(['a', 'b', 'c', 'd']), fc.array(value, { minLength: 4, maxLength: 4 }))
  .map(([names, values]) => {
    const document = new BsonDocument();
    for (const [index, name] of names.entries()) {
      const each = values[index];
      if (each !== undefined) document.set(name, each);
    }
    return document;
  });

const filters: readonly object[] = [
  { 'a.b': { $gt: 1 } },
  { c: { $exists: false } },
  { a: { $elemMatch: { b: 1 } } },
  { $expr: { $gt: ['$b.c', '$a'] } },
  { 'a.0': { $ne: 1 } },
];
const ends: readonly object[] = [
  { $project: { a: 1, c: 1 } },
  { $project: { 'a.b': 1, 'c.a.b': 1 } },
  { $project: { 'c.b': 1, 'c.a': 1, d: '$a.c', b: { $size: { $ifNull: [[], '$d'] } } } },
  { $project: { a: { b: '$c', c: 1 } } },
  { $replaceWith: { x: '$a.b', y: { z: '$c' } } },
  {
    $group: {
      _id: '$a.b',
      s: { $sum: '$c.a' },
      l: { $last: '$b' },
      t: { $top: { sortBy: { 'b.c': 1 }, output: '$d' } },
    },
  },
];

test('rows that hold only the fields read, the rest in another order, give the same result', async () => {
  const between = fc.constantFrom<object[]>(
    [],
    [{ $sort: { 'b.a': 1 } }],
    [{ $limit: 3 }],
    [{ $unwind: '$a' }],
    [{ $unwind: { path: '$c.a', includeArrayIndex: 'c.d', preserveNullAndEmptyArrays: true } }],
  );
  const rows = fc.array(row, { maxLength: 4 });
  let rebuiltSome = 0;
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.subarray([...filters], { maxLength: 2 }),
      between,
      fc.constantFrom(...ends),
      async (all, where, stages, end) => {
        const found = stagesOf(...where.map((each) => ({ $match: each })), ...stages, end);
        const { fields } = fieldsRead(found);
        if (fields === 'all') throw new Error('no plan here needs whole rows');
        const fewer = all.map((each) => rebuilt(each, fields));
        if (
          JSON.stringify(fewer.map((each) => [...each.keys()])) !== JSON.stringify(all.map((each) => [...each.keys()]))
        )
          rebuiltSome++;
        expect(await answer(fewer, found)).toEqual(await answer(all, found));
      },
    ),
    { numRuns: 400 },
  );
  expect(rebuiltSome).toBeGreaterThan(100);
});

async function answer(rows: readonly BsonDocument[], stages: readonly Stage[]): Promise<string[]> {
  return await run(rows, stages).then(
    (found) => found.map((each) => Buffer.from(encodeBson(each)).toString('hex')),
    (error: Error) => [error.message],
  );
}

test('only fields of the answer are copied, and rows that are passed on are needed whole', () => {
  const { fields, mask } = fieldsRead(
    stagesOf({ $match: { b: 1 } }, { $sort: { 'c.d': 1 } }, { $project: { _id: 0, a: { x: 1 } } }),
  );
  expect(fields).toEqual([
    { path: ['b'], as: 'value' },
    { path: ['c', 'd'], as: 'value' },
    { path: ['a', 'x'], as: 'place' },
  ]);
  expect(mask).toEqual(
    new Map<string, unknown>([
      ['b', true],
      ['c', new Map([['d', true]])],
      ['a', new Map([['x', true]])],
    ]),
  );
  expect(fieldsRead(stagesOf({ $match: { b: 1 } }, { $limit: 1 }))).toMatchObject({ passThrough: true, fields: 'all' });
  expect(fieldsRead(stagesOf({ $addFields: { b: 1 } }))).toEqual({ mask: true, passThrough: false, fields: 'all' });
  expect(fieldsRead(stagesOf({ $group: { _id: '$$ROOT' } }))).toEqual({
    mask: true,
    passThrough: false,
    fields: 'all',
  });
});
