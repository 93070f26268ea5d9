import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accumulators as definitions } from '../../accumulators/registry.ts';
import { batchOf, documentsOf } from '../../bson/batch.ts';
import { parseDecimal } from '../../bson/decimal.ts';
import { encodeBson } from '../../bson/encode.ts';
import { BsonDate, type BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { execute } from '../../execute/execute.ts';
import { executeSplit, type SourceBatch } from '../../execute/execute-split.ts';
import { parseMql } from '../../mql/parse.ts';
import { parseSql } from '../../sql/parse.ts';
import { kindOfSchema } from '../../sql/types/kind.ts';
import { doc, run } from '../../testing/run.ts';
import { decodePlan, encodePlan } from '../plan-codec.ts';
import type { Plan } from '../stage.ts';
import { type PlanSplit, splitPlan } from './split-plan.ts';

const plan = (...stages: object[]): Plan => parseMql(stages.map(doc));

/** Few values, so that many rows are equal, in all forms that equal numbers have. */
const value: fc.Arbitrary<Maybe> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Maybe>(new Int32(1), 1, 1n, parseDecimal('1.0')!, 0, -0, new Int32(0)) },
  { weight: 4, arbitrary: fc.constantFrom<Maybe>(0.1, 1e16, -1e16, 1e-9, 3e300, 1.5e308, -1.5e308, 2n ** 62n) },
  { weight: 3, arbitrary: fc.constantFrom<Maybe>(undefined, null, 'a', 'b', true, new BsonDate(5), doc({ x: 1 })) },
  { weight: 2, arbitrary: fc.constantFrom<Maybe>([], [3, 1].map(Number), [new Int32(1), 'z'], [doc({ x: 2 })]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Maybe>(Number.NaN, Infinity, -Infinity, parseDecimal('1E-20')!, parseDecimal('NaN')!),
  },
  fc.double(),
);
const row = fc.record({ k: value, v: value, w: value, t: fc.integer({ min: 0, max: 3 }) });

const rows = fc.array(row, { maxLength: 14 }).map((found) =>
  found.map(({ t, ...values }, id) => {
    const document = doc({ id, t });
    for (const [name, each] of Object.entries(values)) if (each !== undefined) document.set(name, each);
    return document;
  }),
);

/** How many rows each source has, and whether it has already passed the first half. */
const sources = fc.array(fc.record({ rows: fc.integer({ min: 0, max: 5 }), done: fc.boolean() }), { maxLength: 6 });
type Sources = readonly { readonly rows: number; readonly done: boolean }[];

async function* split(
  all: readonly BsonDocument[],
  { pre }: Pick<PlanSplit, 'pre'>,
  parts: Sources,
): AsyncGenerator<SourceBatch> {
  let from = 0;
  for (const part of [...parts, { rows: all.length, done: false }]) {
    const batch = batchOf(all.slice(from, from + part.rows));
    from += part.rows;
    if (!part.done) yield { batch, done: false };
    else for await (const each of execute(pre, [batch], { batchRows: 2 })) yield { batch: each, done: true };
  }
}

async function inParts(found: Plan, all: readonly BsonDocument[], parts: Sources): Promise<BsonDocument[]> {
  const { pre, post } = splitPlan(decodePlan(encodePlan(found)));
  const result: BsonDocument[] = [];
  for await (const batch of executeSplit(pre, post, split(all, { pre }, parts))) result.push(...documentsOf(batch));
  return result;
}

/** Their bytes, or that it is an error. */
async function bytesOf(answer: Promise<BsonDocument[]>): Promise<string[]> {
  return await answer.then(
    (documents) => documents.map((document) => Buffer.from(encodeBson(document)).toString('hex')),
    (error: Error) => [`${error.name} ${'code' in error ? error.code : error.stack}`],
  );
}

const accumulators: readonly object[] = [
  ...['$sum', '$avg', '$min', '$max', '$first', '$last'].map((fn) => ({ [fn]: '$v' })),
  { $count: {} },
  { $sum: 1 },
  { $sum: { $multiply: ['$t', 0.1] } },
  { $min: '$w' },
  { $last: '$w' },
  { $top: { sortBy: { w: 1 }, output: '$id' } },
  { $bottom: { sortBy: { w: -1, t: 1 }, output: ['$id', '$v'] } },
  { $addToSet: '$v' },
  { $median: { input: '$v', method: 'approximate' } },
  { $percentile: { input: '$w', p: [0, 0.3, 1], method: 'approximate' } },
  ...['$firstN', '$lastN', '$minN', '$maxN'].map((fn) => ({ [fn]: { n: new Int32(2), input: '$v' } })),
  { $topN: { n: new Int32(2), sortBy: { w: 1 }, output: '$v' } },
  { $bottomN: { n: new Int32(2), sortBy: { w: -1, t: 1 }, output: '$id' } },
  { $push: '$id' },
];
const keys: readonly BsonValue[] = [
  '$k',
  null,
  doc({ a: '$k', b: '$t' }),
  doc({ a: '$k.x', b: doc({ c: '$k' }) }),
  doc({ $isArray: '$k' }),
];
const orders: readonly object[] = [{ w: 1 }, { w: -1 }, { t: 1, w: -1 }, { 'w.x': 1 }, { t: -1 }];

const groups = fc.record({
  filter: fc.constantFrom<object[]>(
    [],
    [{ $match: { t: { $gt: 0 } } }],
    [{ $match: { t: 1 } }, { $match: { k: 'a' } }],
  ),
  sort: fc.option(fc.constantFrom(...orders), { nil: undefined }),
  key: fc.constantFrom(...keys),
  accumulators: fc.uniqueArray(fc.constantFrom(...accumulators), { maxLength: 4 }),
});

test('merged groups of sources equal those of all rows at once to the last bit, with and without a preceding sort', async () => {
  let splitInGroups = 0;
  await fc.assert(
    fc.asyncProperty(rows, sources, groups, async (all, parts, { filter, sort, key, accumulators }) => {
      const group = { _id: key, ...Object.fromEntries(accumulators.map((each, index) => [`r${index}`, each])) };
      const found = plan(...filter, ...(sort === undefined ? [] : [{ $sort: sort }]), { $group: group });
      if (splitPlan(found).end !== 'rows') splitInGroups++;
      const [whole, inOne, split] = await Promise.all([
        bytesOf(run(all, found.stages)),
        bytesOf(inParts(found, all, [])),
        bytesOf(inParts(found, all, parts)),
      ]);
      expect(split).toEqual(inOne);
      expect(split.toSorted()).toEqual(whole.toSorted());
    }),
    { numRuns: 600 },
  );
  expect(splitInGroups).toBeGreaterThan(200);
});

test('the first rows of an order, and rows that are only filtered, are the same in parts', async () => {
  const tails = fc.constantFrom<object[]>(
    [{ $limit: 3 }],
    [{ $skip: 1 }, { $limit: 2 }],
    [{ $limit: 4 }, { $project: { v: 1, 'w.x': 1 } }],
    [{ $project: { id: 1 } }, { $limit: 2 }],
    [{ $limit: 3 }, { $group: { _id: '$k', first: { $first: '$id' } } }],
    [{ $project: { v: 1, 'w.x': 1, y: '$k', 'o.t': '$t' } }],
    [{ $project: { id: '$t', v: 1 } }, { $sort: { v: 1 } }, { $group: { _id: '$id', all: { $push: '$v' } } }],
    [{ $project: { v: { $add: ['$v', 1] } } }, { $match: { v: { $gt: 1 } } }],
    [{ $replaceWith: { v: '$v', of: { k: '$k' } } }, { $skip: 1 }],
  );
  await fc.assert(
    fc.asyncProperty(
      rows,
      sources,
      fc.constantFrom(...orders),
      tails,
      fc.boolean(),
      async (all, parts, sort, tail, is) => {
        const found = plan({ $match: { t: { $gte: 1 } } }, ...(is ? [{ $sort: sort }] : []), ...tail);
        expect(await bytesOf(inParts(found, all, parts))).toEqual(await bytesOf(run(all, found.stages)));
      },
    ),
    { numRuns: 300 },
  );
});

test('SQL without rows gives no group, whichever half finds none', async () => {
  const found = parseSql('SELECT COUNT(*) AS n, SUM(data.v) AS s, AVG(data.v) AS a FROM readings WHERE data.v > 100');
  const some = [doc({ data: { v: 1 } })];
  for (const parts of [[], [{ rows: 0, done: true }], [{ rows: 1, done: true }]]) {
    expect(await inParts(found, some, parts)).toEqual([]);
  }
});

test('SQL counts, sums and collects each value once, whatever its type, however the rows are distributed', async () => {
  const found = parseSql(
    'SELECT t, COUNT(DISTINCT v) AS n, SUM(DISTINCT v) AS s, AVG(DISTINCT v) AS a, MAX(DISTINCT t) AS m, ADD_TO_SET(DISTINCT v) AS l FROM readings GROUP BY t',
    {
      database: 'd',
      databases: {
        d: {
          readings: {
            source: 'readings',
            kind: kindOfSchema({ properties: { v: { bsonType: ['int', 'long', 'double', 'decimal', 'null'] } } }),
          },
        },
      },
    },
  );
  expect(splitPlan(found).end).toMatchObject({ k: 'group' });
  await fc.assert(
    fc.asyncProperty(rows, sources, async (all, parts) => {
      expect(await bytesOf(inParts(found, all, parts))).toEqual(await bytesOf(inParts(found, all, [])));
    }),
    { numRuns: 200 },
  );
  const twice = [1, new Int32(1), 2n, null, 0.5].map((v) => doc({ t: 1, v }));
  expect(
    await inParts(found, twice, [
      { rows: 2, done: true },
      { rows: 2, done: true },
    ]),
  ).toMatchObject([doc({ t: 1, n: new Int32(3), s: 3.5, a: 3.5 / 3, m: 1, l: [null, 0.5, 1, 2n] })]);
});

test('merged groups come in the order of their keys', async () => {
  const all = ['c', 3, 'a', null, 1].map((k) => doc({ k }));
  const merged = await inParts(plan({ $group: { _id: '$k' } }), all, [{ rows: 2, done: true }]);
  expect(merged).toEqual([null, 1, 3, 'a', 'c'].map((k) => doc({ _id: k })));
});

test.each([
  ['shape', [{ $match: { a: 1 } }, { $project: { a: 1 } }, { $group: { _id: '$a' } }]],
  ['shape', [{ $project: { a: '$b', c: 1 } }, { $project: { c: 1 } }, { $sort: { a: 1 } }, { $limit: 3 }]],
  ['replace', [{ $match: { a: 1 } }, { $replaceWith: { b: '$a' } }]],
  ['rows', [{ $match: { a: 1 } }, { $project: { a: 0 } }]],
  ['rows', [{ $match: { a: 1 } }, { $set: { b: '$a' } }, { $project: { b: 1 } }]],
  ['rows', [{ $replaceWith: '$a' }]],
  ['rows', [{ $group: { _id: '$a', all: { $push: '$b' } } }]],
  ['rows', [{ $sort: { a: 1 } }, { $group: { _id: '$a', all: { $addToSet: '$b' } } }]],
  ['group', [{ $sort: { a: 1 } }, { $group: { _id: '$a', all: { $addToSet: '$part_id' } } }]],
  ['rows', [{ $sort: { a: 1 } }, { $group: { _id: '$a', all: { $push: '$b' } } }]],
  ['rows', [{ $sort: { a: 1 } }, { $group: { _id: '$a', x: { $top: { sortBy: { b: 1 }, output: '$c' } } } }]],
  ['rows', [{ $sort: { a: 1 } }, { $project: { a: 1 } }]],
  ['sort', [{ $sort: { a: 1 } }, { $limit: 3 }, { $group: { _id: '$a' } }]],
  ['group', [{ $match: { a: 1 } }, { $sort: { a: 1 } }, { $group: { _id: '$a', x: { $first: '$b' } } }, { $limit: 1 }]],
  ['group', [{ $count: 'n' }]],
])('the work of sources ends with %s: %j', (end, pipeline) => {
  const found = splitPlan(plan(...pipeline));
  expect(found.end === 'rows' ? 'rows' : found.end.k).toBe(end);
});

test('the newest value of each series needs no sort and no field other than those named', () => {
  const { end, post } = splitPlan(
    plan(
      { $sort: { time_received: -1 } },
      { $group: { _id: { part: '$part_id', name: '$component_name' }, v: { $first: '$data.x' }, n: { $sum: 1 } } },
    ),
  );
  const by = [{ path: ['time_received'], descending: true }];
  expect(end).toMatchObject({
    k: 'group',
    partial: true,
    accumulators: [
      ['v', { fn: 'top', by }],
      ['n', { fn: 'sum' }],
    ],
  });
  expect(post).toMatchObject([{ k: 'merge' }]);
});

test('conditions of leading filters are listed individually', () => {
  const { where, pre } = splitPlan(
    plan({ $match: { a: 1, $and: [{ b: 2 }, { $expr: { $gt: ['$c', 3] } }] } }, { $match: { d: 4 } }),
  );
  expect(where.map((each) => each.k === 'call' && each.fn)).toEqual(['match.eq', 'match.eq', 'agg.gt', 'match.eq']);
  expect(pre).toHaveLength(2);
});

test('a plan that reads rows in a second place is not split, and still runs', async () => {
  const found = parseSql(
    "SELECT part_id FROM readings WHERE part_id > 'a' UNION ALL SELECT part_id FROM readings WHERE part_id > 'b'",
  );
  expect(splitPlan(found)).toMatchObject({ where: [], end: 'rows', pre: [], post: found.stages });
  const all = ['a', 'b', 'c'].map((part_id) => doc({ part_id }));
  expect(await inParts(found, all, [{ rows: 1, done: false }])).toEqual(
    ['b', 'c', 'c'].map((part_id) => doc({ part_id })),
  );
});

test('each accumulator that decomposes names its replacement without a sort, unless it has its own order', () => {
  const silent = [...definitions].filter(
    ([, definition]) => definition.decomposes && definition.unsorted === undefined,
  );
  expect(silent.map(([fn]) => fn).sort()).toEqual(['bottom', 'bottomN', 'top', 'topN']);
});
