import { expect, test } from 'vitest';
import { parseDecimal } from '../bson/decimal.ts';
import type { BsonDocument } from '../bson/value.ts';
import { doc, refusalOf, runMql } from '../testing/run.ts';

/** Names of the rows that a query selects. */
async function matching(rows: Record<string, unknown>, query: unknown): Promise<unknown[]> {
  const documents = Object.entries(rows).map(([n, row]) => doc({ n, ...(row as object) }));
  const found = await runMql(documents, [{ $match: query }]);
  return found.map((row: BsonDocument) => row.get('n'));
}

test('implicit equality looks into arrays, and null also finds missing fields', async () => {
  const rows = { number: { a: 1 }, array: { a: [1, 2] }, nothing: {}, null: { a: null }, text: { a: '1' } };
  expect(await matching(rows, { a: 1 })).toEqual(['number', 'array']);
  expect(await matching(rows, { a: [1, 2] })).toEqual(['array']);
  expect(await matching(rows, { a: null })).toEqual(['nothing', 'null']);
  expect(await matching(rows, { a: { $exists: false } })).toEqual(['nothing']);
  expect(await matching(rows, { a: { $ne: 1 } })).toEqual(['nothing', 'null', 'text']);
});

test('comparisons hold only between values of the same kind', async () => {
  const rows = { number: { a: 5 }, text: { a: '5' }, bool: { a: true }, nothing: {}, nan: { a: Number.NaN } };
  expect(await matching(rows, { a: { $gt: 1 } })).toEqual(['number']);
  expect(await matching(rows, { a: { $gte: '' } })).toEqual(['text']);
  expect(await matching(rows, { a: { $lte: Number.NaN } })).toEqual(['nan']);
});

test('dotted paths follow arrays by element and by index', async () => {
  const rows = {
    objects: { a: [{ b: 1 }, { b: 2 }] },
    plain: { a: { b: 2 } },
    scalars: { a: [1, 2] },
    empty: { a: [] },
  };
  expect(await matching(rows, { 'a.b': 2 })).toEqual(['objects', 'plain']);
  expect(await matching(rows, { 'a.1.b': 2 })).toEqual(['objects']);
  expect(await matching(rows, { 'a.0': 1 })).toEqual(['scalars']);
  expect(await matching(rows, { 'a.b': null })).toEqual([]);
});

test('$elemMatch, $all, $size, $mod, $type, $in and $nin', async () => {
  const rows = {
    one: { a: [1, 5] },
    two: { a: [3, 9] },
    objects: {
      a: [
        { x: 1, y: 2 },
        { x: 2, y: 1 },
      ],
    },
    text: { a: 'abc' },
  };
  expect(await matching(rows, { a: { $elemMatch: { $gt: 2, $lt: 5 } } })).toEqual(['two']);
  expect(await matching(rows, { a: { $elemMatch: { x: 1, y: 1 } } })).toEqual([]);
  expect(await matching(rows, { a: { $all: [1, 5] } })).toEqual(['one']);
  expect(await matching(rows, { a: { $size: 2 } })).toEqual(['one', 'two', 'objects']);
  expect(await matching(rows, { a: { $mod: [3, 0] } })).toEqual(['two']);
  expect(await matching(rows, { a: { $type: 'string' } })).toEqual(['text']);
  expect(await matching(rows, { a: { $in: [9, 'abc'] } })).toEqual(['two', 'text']);
  expect(await matching(rows, { a: { $nin: [9, 'abc'] } })).toEqual(['one', 'objects']);
});

test('$regex with options, and in linear time whatever the pattern', async () => {
  const rows = { upper: { a: 'Hello' }, long: { a: `${'a'.repeat(5000)}!` } };
  expect(await matching(rows, { a: { $regex: '^hel', $options: 'i' } })).toEqual(['upper']);
  expect(await matching(rows, { a: { $regex: '^(a+)+$' } })).toEqual([]);
});

test('$and, $or, $nor, $not and $expr combine', async () => {
  const rows = { small: { a: 1, b: 2 }, large: { a: 9, b: 3 } };
  expect(await matching(rows, { $or: [{ a: 1 }, { b: 3 }] })).toEqual(['small', 'large']);
  expect(await matching(rows, { $nor: [{ a: 1 }] })).toEqual(['large']);
  expect(await matching(rows, { a: { $not: { $gt: 5 } } })).toEqual(['small']);
  expect(await matching(rows, { $expr: { $gt: ['$a', '$b'] } })).toEqual(['large']);
});

test('NaN, including decimal NaN, compares only with NaN and only as equal', async () => {
  const rows = { one: { a: 1 }, nan: { a: Number.NaN }, decimal: { a: parseDecimal('NaN') } };
  expect(await matching(rows, { a: { $gt: parseDecimal('NaN') } })).toEqual([]);
  expect(await matching(rows, { a: { $gte: parseDecimal('NaN') } })).toEqual(['nan', 'decimal']);
  expect(await matching(rows, { a: { $lt: 5 } })).toEqual(['one']);
});

test('$mod truncates fractions, and supports only numbers of 64 bits', async () => {
  const rows = {
    double: { a: 4.9 },
    decimal: { a: parseDecimal('-4.9') },
    wide: { a: 1e20 },
    huge: { a: parseDecimal('1E30') },
  };
  expect(await matching(rows, { a: { $mod: [2, 0] } })).toEqual(['double', 'decimal']);
  expect(refusalOf({ $match: { a: { $mod: [1e20, 0] } } })).toMatchObject({ codeName: 'BadValue' });
});

test('$elemMatch tests elements as they are: an array among them is not entered', async () => {
  const rows = { flat: { a: [3] }, nested: { a: [[3]] } };
  expect(await matching(rows, { a: { $elemMatch: { $gt: 2 } } })).toEqual(['flat']);
  expect(await matching(rows, { a: { $elemMatch: { $in: [3, [3]] } } })).toEqual(['flat', 'nested']);
  expect(await matching(rows, { a: { $elemMatch: { $not: { $gt: 2 } } } })).toEqual(['nested']);
  expect(await matching(rows, { a: { $elemMatch: { $elemMatch: { $gt: 2 } } } })).toEqual(['nested']);
});

test('$text has its own code if it is not in the first stage', () => {
  const text = { $match: { $text: { $search: 'x' } } };
  expect(refusalOf({ $match: { a: 1 } }, text)).toMatchObject({ code: 17313, stage: 1 });
});
