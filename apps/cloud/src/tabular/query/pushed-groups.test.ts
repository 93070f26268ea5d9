/** Groups made by DuckDB instead of the executor, with byte-identical answers, in every language. */
import { encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';
import { bson } from '../testing/pushdown/document.ts';

const mql = (...stages: object[]): Plan => parseMql(stages.map((stage) => encodeBson(bson(stage) as never)));
const noonMs = Date.UTC(2026, 4, 17, 12);

/** Two sealed files and hot rows: the results of the sources are merged. */
async function fill(store: OpenTabular): Promise<void> {
  for (const [upload, component] of ['cpu', 'arm', 'cpu', 'é', 'arm', 'cpu'].entries()) {
    store.append({
      place: { ...testPlace, robotId: `robot-${upload % 2}` },
      metadata: { componentName: component, tags: component === 'arm' ? ['t'] : [] },
      readings: Array.from({ length: 90 }, (_, n) => ({
        receivedMs: noonMs + upload * 3_600_000 + n * 7_000,
        requestedMs: n % 9 === 0 ? null : noonMs + n,
        data: {
          t: ((n * 7 + upload) % 40) / 8,
          m: n % 5 === 0 ? null : n % 4 === 0 ? `text ${n % 3}` : n % 3 === 0 ? n % 2 === 0 : n % 6,
          state: n % 2 === 0 ? 'on' : n % 3 === 0 ? 'longer than twelve bytes' : 'off',
          ...(n % 4 === 1 && { seldom: n % 8 }),
        },
      })),
    });
    if (upload === 1 || upload === 3) await store.tabular.seal();
  }
  await store.count();
}

const queries: Readonly<Record<string, Plan>> = {
  'SQL, a time in steps': parseSql(
    'SELECT DATETRUNC(MINUTE, time_received) AS m, AVG(data.t) AS a FROM readings GROUP BY DATETRUNC(MINUTE, time_received)',
  ),
  'SQL, two parts of a time that may be missing': parseSql(
    'SELECT h, s, COUNT(*) AS n, MIN(data.t) AS a FROM readings GROUP BY EXTRACT(HOUR FROM time_requested) AS h, EXTRACT(SECOND FROM time_requested) AS s',
  ),
  'SQL, the quarter and a leaf': parseSql(
    'SELECT q, s, SUM(data.t) AS n FROM readings GROUP BY EXTRACT(QUARTER FROM time_received) AS q, data.m AS s',
  ),
  'SQL, the name of a function': parseSql(
    'SELECT HOUR(time_received) AS h, MAX(data.t) AS t FROM readings GROUP BY HOUR(time_received)',
  ),
  'a replacement for missing values': mql({
    $group: { _id: { $ifNull: ['$data.seldom', 'none'] }, n: { $sum: 1 } },
  }),
  'what a condition says': mql({
    $group: { _id: { warm: { $gt: ['$data.t', 2] }, m: { $not: ['$data.m'] } }, n: { $sum: 1 } },
  }),
  'SQL, distinct values': parseSql(
    'SELECT component_name AS c, COUNT(DISTINCT data.state) AS s, COUNT(DISTINCT time_requested) AS t, COUNT(DISTINCT robot_id) AS r, SUM(DISTINCT data.t) AS d, COUNT(*) AS n FROM readings GROUP BY component_name',
  ),
  'SQL, distinct columns of all rows': parseSql(
    'SELECT COUNT(DISTINCT component_name) AS c, COUNT(DISTINCT data.seldom) AS s, COUNT(DISTINCT capture_day) AS d FROM readings',
  ),
  sets: mql({
    $group: {
      _id: '$robot_id',
      m: { $addToSet: '$data.m' },
      s: { $addToSet: '$data.seldom' },
      t: { $addToSet: '$time_requested' },
      tags: { $addToSet: '$tags' },
    },
  }),
  'the size of a set': mql(
    { $group: { _id: '$data.state', s: { $addToSet: '$component_name' }, m: { $addToSet: '$data.m' } } },
    { $project: { n: { $size: '$s' }, m: { $size: '$m' } } },
  ),
  'median and percentiles': mql({
    $group: {
      _id: '$component_name',
      m: { $median: { input: '$data.t', method: 'approximate' } },
      p: { $percentile: { input: '$data.m', p: [0, 0.25, 0.9, 1], method: 'approximate' } },
      none: { $median: { input: '$data.state', method: 'approximate' } },
      a: { $avg: '$data.t' },
    },
  }),
  'median by minute': mql({
    $group: {
      _id: { $dateTrunc: { date: '$time_received', unit: 'minute' } },
      m: { $median: { input: '$data.seldom', method: 'approximate' } },
    },
  }),
};

let store: OpenTabular;
beforeAll(async () => {
  store = await openTabular({ mergeFiles: 1_000 });
  await fill(store);
});
afterAll(() => store[Symbol.asyncDispose]());

test.each(Object.entries(queries))('%s', async (_, plan) => {
  const ask = { plan, scope: wholeOrganization, vocabulary: 'core' as const };
  const pushed = await store.tabular.query({ ...ask, explain: true });
  const not = await store.tabular.query({ ...ask, pushDown: false });
  expect(new Set(pushed.explain?.sources.map(({ does }) => does))).toEqual(new Set(['group', 'hot']));
  expect(Buffer.from(pushed.bytes).toString('hex')).toBe(Buffer.from(not.bytes).toString('hex'));
});

const firsts: Readonly<Record<string, Plan>> = {
  'the last value by a time that rows share': mql(
    { $sort: { time_requested: 1 } },
    { $group: { _id: '$component_name', last: { $last: '$data.state' }, first: { $first: '$$ROOT' } } },
  ),
  'first and last without an order': mql({
    $group: { _id: '$data.state', first: { $first: '$data.t' }, last: { $lastN: { n: 3, input: '$data.m' } } },
  }),
  'the first of all': mql({ $group: { _id: null, most: { $top: { sortBy: { 'data.t': -1 }, output: '$data' } } } }),
  'the first three and the last two by values of any type': mql({
    $group: {
      _id: { $dateTrunc: { date: '$time_received', unit: 'hour' } },
      most: { $topN: { n: 3, sortBy: { 'data.m': -1, 'data.seldom': 1 }, output: ['$data.m', '$time_received'] } },
      least: { $bottomN: { n: 2, sortBy: { 'data.seldom': -1, 'data.t': 1 }, output: '$data.seldom' } },
      one: { $bottom: { sortBy: { component_name: 1, time_received: 1 }, output: '$data.t' } },
    },
  }),
  'behind a condition': mql(
    { $match: { 'data.t': { $lt: 3 } } },
    { $sort: { 'data.t': -1 } },
    { $group: { _id: { s: '$data.seldom', c: '$component_name' }, t: { $firstN: { n: 2, input: '$data.t' } } } },
  ),
  'SQL, the newest of each component on a robot': parseSql(
    "SELECT component_name AS c, FIRST(data.t) AS t, FIRST(time_received) AS at FROM (SELECT * FROM readings WHERE data.state = 'on' ORDER BY time_received DESC) AS s GROUP BY component_name",
  ),
};

test.each(Object.entries(firsts))('rows that come first in their groups: %s', async (_, plan) => {
  const ask = { plan, scope: wholeOrganization, vocabulary: 'core' as const };
  const pushed = await store.tabular.query({ ...ask, explain: true });
  const not = await store.tabular.query({ ...ask, pushDown: false });
  const sealed = pushed.explain?.sources.filter(({ does }) => does !== 'hot') ?? [];
  expect(sealed.length).toBeGreaterThan(0);
  for (const { pushed: done, rows } of sealed) {
    expect(done).toContain('$group');
    expect(rows).toBeLessThan(200);
  }
  expect(Buffer.from(pushed.bytes).toString('hex')).toBe(Buffer.from(not.bytes).toString('hex'));
});

test.each(['data.t', 'time_received'])(
  'a value that cannot be computed for a row is an error, even if the group takes another row by %s',
  async (by) => {
    const plan = mql({ $sort: { [by]: -1 } }, { $group: { _id: null, v: { $first: { $divide: [1, '$data.t'] } } } });
    const ask = { plan, scope: wholeOrganization, vocabulary: 'core' as const };
    const refused = { message: expect.stringContaining("can't $divide by zero") };
    await expect(store.tabular.query({ ...ask, pushDown: false })).rejects.toMatchObject(refused);
    await expect(store.tabular.query(ask)).rejects.toMatchObject(refused);
  },
);
