import { expect, test } from 'vitest';
import { parseDecimal } from '../bson/decimal.ts';
import { MinKey } from '../bson/value.ts';
import { doc, refusalOf, runMql } from '../testing/run.ts';

const readings = [
  { _id: 1, part: 'a', values: [3, 4], level: 1 },
  { _id: 2, part: 'b', values: [], level: 5 },
  { _id: 3, part: 'a', level: 9 },
  { _id: 4, part: 'c', values: 7, level: 12 },
].map(doc);

const docs = (...objects: object[]): unknown => objects.map(doc);

test('$unwind gives a row for each element, and keeps rows without elements only if requested', async () => {
  const pick = { $project: { part: 0, level: 0 } };
  expect(await runMql(readings, [{ $unwind: '$values' }, pick])).toEqual(
    docs({ _id: 1, values: 3 }, { _id: 1, values: 4 }, { _id: 4, values: 7 }),
  );
  const kept = { path: '$values', includeArrayIndex: 'at.index', preserveNullAndEmptyArrays: true };
  expect(await runMql(readings, [{ $unwind: kept }, pick])).toEqual(
    docs(
      { _id: 1, values: 3, at: { index: 0n } },
      { _id: 1, values: 4, at: { index: 1n } },
      { _id: 2, at: { index: null } },
      { _id: 3, at: { index: null } },
      { _id: 4, values: 7, at: { index: null } },
    ),
  );
});

test('$bucket counts by the greatest boundary reached, in the order of the boundaries', async () => {
  const spec = { groupBy: '$level', boundaries: [0, 5, 10], default: 'more' };
  expect(await runMql(readings, [{ $bucket: spec }])).toEqual(
    docs({ _id: 0, count: 1 }, { _id: 5, count: 2 }, { _id: 'more', count: 1 }),
  );
  await expect(runMql(readings, [{ $bucket: { groupBy: '$level', boundaries: [0, 5] } }])).rejects.toMatchObject({
    code: 40066,
  });
});

test.each([
  [40200, { boundaries: 1 }],
  [40191, { boundaries: ['$level', 9] }],
  [40192, { boundaries: [1] }],
  [40193, { boundaries: [1, 'b'] }],
  [40194, { boundaries: [2, 1] }],
  [40195, { default: '$level' }],
  [40199, { default: 3 }],
  [40196, { output: 1 }],
  [15948, { output: { _id: { $sum: 1 } } }],
  [40197, { buckets: 2 }],
  [40202, { groupBy: 1 }],
  // The contents of groupBy and output are parsed after the options themselves.
  [40199, { groupBy: { $foo: 1 }, default: 3 }],
  [40199, { output: { n: 1 }, default: 3 }],
  [168, { output: { n: 1 }, groupBy: { $foo: 1 } }],
])('$bucket refuses with code %i: %o', (code, part) => {
  expect(refusalOf({ $bucket: { groupBy: '$level', boundaries: [0, 5], ...part } })).toMatchObject({ code, stage: 0 });
});

test('$bucketAuto divides rows into buckets of about the same number, never between equal values', async () => {
  const spec = { groupBy: '$level', buckets: 2, output: { ids: { $push: '$_id' } } };
  expect(await runMql(readings, [{ $bucketAuto: spec }])).toEqual(
    docs({ _id: { min: 1, max: 9 }, ids: [1, 2] }, { _id: { min: 9, max: 12 }, ids: [3, 4] }),
  );
  const same = [1, 1, 1, 2].map((level) => doc({ level }));
  expect(await runMql(same, [{ $bucketAuto: { groupBy: '$level', buckets: 4 } }])).toEqual(
    docs({ _id: { min: 1, max: 2 }, count: 3 }, { _id: { min: 2, max: 2 }, count: 1 }),
  );
});

test.each([
  ['R5', [0.63, 63 * 0.1], [63 * 0.1, 16]],
  ['1-2-5', [0.5, 10], [10, 20]],
  ['POWERSOF2', [0.5, 8], [8, 16]],
])('$bucketAuto rounds bounds to the series %s', async (granularity, ...bounds) => {
  const rows = await runMql(readings, [{ $bucketAuto: { groupBy: '$level', buckets: 2, granularity } }]);
  const plain = rows.map((row) => JSON.parse(JSON.stringify([...(row.get('_id') as Map<string, unknown>).values()])));
  const numbers = plain.map((pair: unknown[]) =>
    pair.map((each) => Number((each as { value?: number }).value ?? each)),
  );
  expect(numbers).toEqual(bounds);
});

test('$bucketAuto parses its output at once, and reports missing options before a missing number of buckets', () => {
  expect(refusalOf({ $bucketAuto: { groupBy: '$level', buckets: 0, output: { n: 1 } } })).toMatchObject({
    code: 40234,
  });
  expect(refusalOf({ $bucketAuto: { buckets: 0 } })).toMatchObject({ code: 40246 });
  expect(refusalOf({ $bucketAuto: { groupBy: '$level', buckets: 0 } })).toMatchObject({ code: 40243 });
});

test('a field of $group that is not an accumulator object is refused before its name', () => {
  expect(refusalOf({ $group: { _id: 1, 'a.b': 1 } })).toMatchObject({ code: 40234 });
  expect(refusalOf({ $group: { _id: 1, $a: { $sum: 1, $avg: 1 } } })).toMatchObject({ code: 40236 });
});

test('$limit and $skip accept whole decimals, and notice the smallest fraction', async () => {
  expect(await runMql(readings, [{ $skip: parseDecimal('3.00') }])).toEqual(readings.slice(3));
  expect(refusalOf({ $limit: parseDecimal('1.0000000000000000000001') })).toMatchObject({ code: 5107201 });
});

test('$densify refuses to partition by the field that it fills, or by a path above or below it', () => {
  const range = { step: 1, bounds: 'full' };
  const refused = (field: string, by: string): unknown =>
    refusalOf({ $densify: { field, partitionByFields: [by], range } }).code;
  expect(refused('a', 'a')).toBe(8993000);
  expect(refused('a.b', 'a')).toBe(9554500);
  expect(refused('a', 'a.b')).toBe(9554500);
});

test('$sortByCount puts the most frequent value first', async () => {
  expect((await runMql(readings, [{ $sortByCount: '$part' }]))[0]).toEqual(doc({ _id: 'a', count: 2 }));
  for (const [spec, code] of [
    ['part', 40148],
    [{ part: 1 }, 40147],
    [1, 40149],
  ] as const) {
    expect(refusalOf({ $sortByCount: spec })).toMatchObject({ code });
  }
});

test('$redact decides for each document in turn, and $$ROOT is the whole row', async () => {
  const row = doc({
    _id: 1,
    level: 1,
    in: [
      { level: 9, x: 1 },
      { level: 2, x: 2, deep: { level: 9 } },
    ],
  });
  const decide = { $cond: [{ $gt: ['$level', 5] }, '$$PRUNE', '$$DESCEND'] };
  expect(await runMql([row], [{ $redact: decide }])).toEqual(docs({ _id: 1, level: 1, in: [{ level: 2, x: 2 }] }));
  const whole = { $cond: [{ $eq: ['$$ROOT.level', 1] }, '$$KEEP', '$$PRUNE'] };
  expect(await runMql([row], [{ $redact: whole }])).toEqual([row]);
  await expect(runMql([row], [{ $redact: '$level' }])).rejects.toMatchObject({ code: 17053 });
  expect(refusalOf({ $project: { x: '$$PRUNE' } })).toMatchObject({ code: 17276 });
});

test('$sample gives the requested number of different rows, at most all', async () => {
  const ids = (await runMql(readings, [{ $sample: { size: 3 } }])).map((row) => row.get('_id'));
  expect(new Set(ids).size).toBe(3);
  expect(await runMql(readings, [{ $sample: { size: 99 } }, { $sort: { _id: 1 } }])).toEqual(readings);
  for (const [spec, code] of [
    [1, 28745],
    [{ size: '1' }, 28746],
    [{ size: 0 }, 28747],
    [{ size: 1, by: 1 }, 28748],
    [{}, 28749],
  ] as const) {
    expect(refusalOf({ $sample: spec })).toMatchObject({ code });
  }
});

test('a $project right after a $group keeps the order in which it names the fields', async () => {
  const group = { $group: { _id: null, total: { $sum: '$level' }, most: { $max: '$level' } } };
  const [row] = await runMql(readings, [
    group,
    { $project: { most: 1, twice: { $add: ['$total', '$total'] }, total: 1 } },
  ]);
  expect([...row!.keys()]).toEqual(['_id', 'most', 'twice', 'total']);
});

test('$group has its own codes for errors that expressions report elsewhere', async () => {
  const divided = { $divide: ['$level', { $subtract: ['$level', 1] }] };
  await expect(runMql(readings, [{ $project: { x: divided } }])).rejects.toMatchObject({ code: 2 });
  await expect(runMql(readings, [{ $group: { _id: null, x: { $sum: divided } } }])).rejects.toMatchObject({
    code: 4848401,
  });
});

test('$sort keys that only search provides change nothing; unknown ones are refused', async () => {
  const sorted = await runMql(readings, [{ $sort: { level: -1, by: { $meta: 'randVal' } } }, { $limit: 1 }]);
  expect(sorted).toEqual([readings[3]]);
  expect(refusalOf({ $sort: { by: { $meta: 'textScore' } } })).toMatchObject({ code: 40218 });
  expect(refusalOf({ $sort: { by: { $meta: 'foo' } } })).toMatchObject({ code: 31138 });
  expect(refusalOf({ $sort: { by: { $meta: 'randVal', x: 1 } } })).toMatchObject({ codeName: 'FailedToParse' });
  expect(refusalOf({ $sort: { by: { x: 1, $meta: 'randVal' } } })).toMatchObject({ code: 17312 });
});

test('everything is at least MinKey, even a missing value', async () => {
  const found = await runMql(readings, [{ $match: { values: { $gte: new MinKey() } } }]);
  expect(found).toEqual(readings);
});
