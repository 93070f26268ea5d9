import { expect, test } from 'vitest';
import { encodeBson } from '../bson/encode.ts';
import { BsonDate, BsonDocument, Int32 } from '../bson/value.ts';
import { QueryError } from '../query-error.ts';
import { pipelineStages } from '../stages/registry.ts';
import { doc, runMql } from '../testing/run.ts';
import { parseMql } from './parse.ts';

const rows = [
  { _id: 1, kind: 'a', v: 1, deep: { x: 1, y: 2 } },
  { _id: 2, kind: 'b', v: 2.5, deep: { x: 3 } },
  { _id: 3, kind: 'a', v: 4 },
].map(doc);

test('$project keeps the order of the row and appends computed fields', async () => {
  const [first] = await runMql(rows, [{ $project: { 'deep.y': 1, kind: true, twice: { $multiply: ['$v', 2] } } }]);
  expect(first).toEqual(doc({ _id: 1, kind: 'a', deep: { y: 2 }, twice: 2 }));
  expect([...first!.keys()]).toEqual(['_id', 'kind', 'deep', 'twice']);
  expect((await runMql(rows, [{ $project: { deep: 0, _id: 0 } }]))[0]).toEqual(doc({ kind: 'a', v: 1 }));
});

test('$addFields reaches into documents and arrays; $unset and $$REMOVE remove fields', async () => {
  const [row] = await runMql(
    [doc({ a: [{ x: 1 }, { x: 2 }], b: 1, c: 2 })],
    [{ $addFields: { 'a.y': '$b', 'n.m': 7, c: '$$REMOVE' } }, { $unset: ['b', 'a.x'] }],
  );
  expect(row).toEqual(doc({ a: [{ y: 1 }, { y: 1 }], n: { m: 7 } }));
});

test('$group folds by key, with the smallest type that holds the sum', async () => {
  const groups = await runMql(rows, [
    {
      $group: {
        _id: '$kind',
        n: { $sum: 1 },
        sum: { $sum: '$v' },
        avg: { $avg: '$v' },
        all: { $push: '$v' },
        last: { $last: '$_id' },
      },
    },
    { $sort: { _id: 1 } },
  ]);
  expect(groups[0]).toEqual(
    new BsonDocument([
      ['_id', 'a'],
      ['n', new Int32(2)],
      ['sum', new Int32(5)],
      ['avg', 2.5],
      ['all', [new Int32(1), new Int32(4)]],
      ['last', new Int32(3)],
    ]),
  );
  expect(groups[1]!.get('sum')).toBe(2.5);
  const [big] = await runMql([{ v: 2147483647 }, { v: 1 }].map(doc), [{ $group: { _id: null, sum: { $sum: '$v' } } }]);
  expect(big!.get('sum')).toBe(2147483648n);
  const [exact] = await runMql([{ v: 1e100 }, { v: 1.5 }, { v: -1e100 }].map(doc), [
    { $group: { _id: null, sum: { $sum: '$v' } } },
  ]);
  expect(exact!.get('sum')).toBe(1.5);
});

test('$sort orders mixed types, is stable, and with $limit gives the first rows', async () => {
  const mixed = [
    { n: 1, a: 'text' },
    { n: 2, a: 3 },
    { n: 3 },
    { n: 4, a: [9, 1] },
    { n: 5, a: true },
    { n: 6, a: 3.0 },
  ].map(doc);
  const order = async (spec: object, ...more: object[]): Promise<unknown[]> =>
    (await runMql(mixed, [{ $sort: spec }, ...more])).map((row) => (row.get('n') as Int32).value);
  expect(await order({ a: 1 })).toEqual([3, 4, 2, 6, 1, 5]);
  expect(await order({ a: -1 })).toEqual([5, 1, 4, 2, 6, 3]);
  expect(await order({ a: 1 }, { $skip: 1 }, { $limit: 2 })).toEqual([4, 2]);
});

test('$count counts, and gives nothing for no rows', async () => {
  expect(await runMql(rows, [{ $match: { kind: 'a' } }, { $count: 'n' }])).toEqual([doc({ n: 2 })]);
  expect(await runMql([], [{ $count: 'n' }])).toEqual([]);
});

test('expressions keep exact types and bind variables', async () => {
  const value = async (expression: unknown, row: object = {}): Promise<unknown> =>
    (await runMql([doc(row)], [{ $project: { _id: 0, r: expression } }]))[0]!.get('r');
  const never = Object.fromEntries([
    ['case', false],
    ['then', 1],
  ]);
  expect(await value({ $add: [2147483647, 1] })).toBe(2147483648n);
  expect(await value({ $divide: [4, 2] })).toBe(2);
  expect(await value({ $gt: ['$x', null] })).toBe(false);
  expect(await value({ $lt: ['$missing', null] })).toBe(true);
  expect(await value({ $map: { input: '$a', as: 'i', in: { $add: ['$$i', '$b'] } } }, { a: [1, 2], b: 10 })).toEqual([
    new Int32(11),
    new Int32(12),
  ]);
  expect(await value({ $filter: { input: '$a', cond: { $gt: ['$$this', 1] } } }, { a: [1, 2] })).toEqual([
    new Int32(2),
  ]);
  expect(await value({ $cond: [{ $isArray: '$a' }, 'yes', { $divide: [1, '$zero'] }] }, { a: [], zero: 0 })).toBe(
    'yes',
  );
  expect(await value({ $switch: { branches: [never], default: { $round: [2.345, 2] } } })).toBe(2.35);
  const date = new BsonDate(Date.UTC(2026, 10, 21, 8, 9, 10, 11));
  expect(await value({ $dateTrunc: { date: '$d', unit: 'hour', binSize: 6 } }, { d: date })).toEqual(
    new BsonDate(Date.UTC(2026, 10, 21, 6)),
  );
  expect(await value({ $dateToString: { date: '$d', format: '%Y-%m-%d %H:%M:%S.%L' } }, { d: date })).toBe(
    '2026-11-21 08:09:10.011',
  );
  expect(await value({ $year: { date: '$d', timezone: '+02:00' } }, { d: date })).toEqual(new Int32(2026));
});

function refusal(...pipeline: object[]): QueryError {
  try {
    parseMql(pipeline.map(doc));
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error('the pipeline was accepted');
}

test('an unknown stage is refused with its name and position, and the list of the 22 known stages', () => {
  const error = refusal({ $limit: 1 }, { $lookup: {} });
  expect(error).toMatchObject({
    code: 40324,
    codeName: 'Location40324',
    stage: 1,
    stageName: '$lookup',
    status: 'invalid_argument',
  });
  expect(error.message).toContain("'$lookup'");
  for (const stage of pipelineStages.keys()) expect(error.message).toContain(stage);
});

test('unknown operators carry MongoDB’s codes and the position', () => {
  expect(refusal({ $match: { a: { $foo: 1 } } })).toMatchObject({
    code: 2,
    codeName: 'BadValue',
    stage: 0,
    path: '$match.a',
  });
  expect(refusal({ $set: { a: { $foo: 1 } } })).toMatchObject({ code: 168, codeName: 'InvalidPipelineOperator' });
  expect(refusal({ $group: { _id: 1, a: { $foo: 1 } } })).toMatchObject({ code: 15952, path: '$group.a' });
  expect(refusal({ $match: { a: { $regex: '(a)\\1' } } })).toMatchObject({ code: 51091 });
  expect(refusal({ $project: { a: 1, b: 0 } })).toMatchObject({ code: 31254 });
});

test('a query nested deeper than 200 levels is refused', () => {
  let query: object = { a: 1 };
  for (let level = 0; level < 200; level++) query = { $and: [query] };
  expect(refusal({ $match: query })).toMatchObject({ codeName: 'Overflow' });
});

test('an array of literals holds their values: what $literal protects, and null for removed values', async () => {
  const list = [{ $literal: '$a' }, { $literal: { $b: 1 } }, [{ $literal: 2 }], '$$REMOVE', 3];
  expect(await runMql(rows, [{ $limit: 1 }, { $project: { _id: 0, list } }])).toEqual([
    doc({ list: ['$a', { $b: 1 }, [2], null, 3] }),
  ]);
});

test('D48 a pipeline with too many fields and elements is refused with the stage, before it is decoded', () => {
  const nulls = (count: number): Uint8Array => encodeBson(doc({ $match: { a: { $in: Array(count).fill(null) } } }));
  expect(parseMql([nulls(40_000), nulls(40_000)]).stages).not.toEqual([]);
  expect(() => parseMql([nulls(40_000), nulls(70_000)])).toThrow(
    'stage 1: a pipeline can have at most 100000 fields and elements, found more',
  );
});
