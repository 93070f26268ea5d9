/** What explain reports about parts of a query that are not executed where the rows are stored. */
import { type BsonDocument, type BsonValue, decodeBson } from '@platform/query';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenTabular, openTabular, plain } from '../tabular/testing/open-tabular.ts';
import { bson } from '../tabular/testing/pushdown/document.ts';
import { serveQueries } from './testing/serve-queries.ts';

let store: OpenTabular;
let queries: Awaited<ReturnType<typeof serveQueries>>;
beforeAll(async () => {
  store = await openTabular();
  queries = await serveQueries(store);
  const readings = Array.from({ length: 20 }, (_, n) => ({
    data: { n, list: n === 3 ? [1] : 1, zero: n === 0 ? -0 : n, s: 'on', o: { x: n } },
  }));
  store.append({ readings });
  await store.tabular.seal();
});
afterAll(async () => {
  await queries[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const headers = { 'platform-explain': 'true' };
type Explained = Record<'sources', { pushed: string[]; not_pushed?: unknown }[]> & { later?: unknown };
const shown = (row: BsonValue): unknown => plain(row);

async function mql(stages: readonly object[]): Promise<Explained> {
  const [row] = await queries.mql(
    stages.map((stage) => bson(stage) as BsonDocument),
    headers,
  );
  return shown(row as BsonDocument) as Explained;
}

async function sql(sqlQuery: string): Promise<Explained> {
  const { rawData } = await queries.client.tabularDataBySQL({ organizationId: 'org-1', sqlQuery }, { headers });
  return shown(decodeBson(rawData[0] as Uint8Array)) as Explained;
}

test.each<[object[], string, string | RegExp]>([
  [[{ $match: { 'data.s': { $regex: '^o' } } }], '$match.data.s.$regex', /patterns/],
  [
    [{ $match: { $expr: { $gt: [{ $cmp: ['$data.n', '$data.zero'] }, 0] } } }],
    '$match.$expr.$gt.$cmp',
    'it is evaluated row by row',
  ],
  [[{ $match: { 'data.list': { $ne: 5 } } }], '$match.data.list.$ne', 'data.list is an array in some rows'],
  [[{ $match: { $expr: { $gt: [{ $toInt: '$data.n' }, 3] } } }], '$match.$expr.$gt', /can fail/],
  [[{ $group: { _id: '$data.o', n: { $sum: 1 } } }], '$group', 'data.o is an object in some rows'],
  [[{ $group: { _id: '$data.zero' } }], '$group', /data.zero is -0 in some rows/],
  [[{ $group: { _id: { of: { $floor: '$data.n' } } } }], '$group._id.of.$floor', 'it is evaluated row by row'],
  [[{ $group: { _id: null, a: { $sum: '$data.n' }, b: { $max: '$data.list' } } }], '$group.b', /data.list is an array/],
  [
    [{ $group: { _id: null, a: { $avg: { $add: ['$data.n', 1] } } } }],
    '$group.a.$avg.$add',
    'it is evaluated row by row',
  ],
  [[{ $sort: { 'data.list': 1 } }, { $limit: 2 }], '$sort', /data.list is an array/],
  [[{ $sort: { time_received: 1 } }, { $limit: 2_000 }], '$sort', /more than 1,000/],
  [[{ $project: { v: { $add: ['$data.n', 1] } } }], '$project.v.$add', 'it is evaluated row by row'],
  [[{ $project: { v: '$data.list' } }], '$project', 'data.list is an array in some rows'],
])('of a pipeline the part is named and the reason: %j', async (stages, part, why) => {
  const { sources } = await mql(stages);
  expect(sources[0]?.not_pushed).toContainEqual({
    part,
    why: typeof why === 'string' ? why : expect.stringMatching(why),
  });
});

test('a condition that cannot be pushed is given as the reason why later ones are not', async () => {
  const { sources } = await mql([{ $match: { 'data.s': { $regex: '^o' } } }, { $group: { _id: '$data.s' } }]);
  expect(sources[0]?.not_pushed).toEqual([
    { part: '$match.data.s.$regex', why: expect.stringMatching(/patterns/) },
    { part: '$group', why: 'a condition before it is left to the executor' },
  ]);
});

test('pushed parts are not named anywhere else', async () => {
  const { sources, later } = await mql([{ $match: { 'data.n': { $gt: 3 } } }, { $group: { _id: '$data.s' } }]);
  expect(sources[0]).not.toHaveProperty('not_pushed');
  expect(later).toBeUndefined();
});

test.each<[object[], readonly unknown[]]>([
  [
    [{ $group: { _id: '$data.s', n: { $sum: 1 } } }, { $sort: { n: -1 } }, { $limit: 3 }],
    ['$sort', '$limit'].map((part) => ({ part, why: 'it runs once, over the groups of all sources' })),
  ],
  [
    [{ $unwind: '$data.list' }, { $count: 'n' }],
    [
      { part: '$unwind', why: 'it turns one row into several' },
      { part: '$count', why: 'it runs once, behind $unwind' },
      { part: '$count', why: 'it runs once, behind $unwind' },
    ],
  ],
  [
    [{ $group: { _id: null, all: { $push: '$data.n' } } }],
    [{ part: '$group', why: '$push depends on the order of all rows' }],
  ],
  [[{ $addFields: { x: 1 } }], [{ part: '$addFields', why: expect.stringMatching(/rows keep fields/) }]],
  [[{ $sort: { 'data.n': 1 } }], [{ part: '$sort', why: expect.stringMatching(/with a limit/) }]],
])('of a pipeline the stages that run over all sources are told: %j', async (stages, later) => {
  expect((await mql(stages)).later).toEqual(later);
});

test('the parts of a SQL statement are its clauses with their positions', async () => {
  const found = await sql(
    "SELECT component_name, SUM(data.n * 2) AS s FROM readings\nWHERE data.s LIKE 'o%' GROUP BY component_name ORDER BY s",
  );
  expect(found.sources[0]?.not_pushed).toEqual([
    { part: 'WHERE (line 2, column 14)', why: expect.any(String) },
    { part: 'GROUP BY', why: 'a condition before it is left to the executor' },
  ]);
  expect(found.later).toEqual([
    { part: 'ORDER BY', why: 'it runs once, over the groups of all sources' },
    { part: 'SELECT', why: 'it runs once, over the groups of all sources' },
  ]);
  const summed = await sql('SELECT SUM(data.n * 2) AS s FROM readings');
  expect(summed.sources[0]?.not_pushed).toEqual([
    { part: expect.stringMatching(/^SELECT \(line 1/), why: 'it is evaluated row by row' },
  ]);
  const having = await sql('SELECT data.s, COUNT(*) AS n FROM readings GROUP BY data.s HAVING COUNT(*) > 2');
  expect(having.later).toContainEqual({ part: expect.stringMatching(/^HAVING \(line 1/), why: expect.any(String) });
});
