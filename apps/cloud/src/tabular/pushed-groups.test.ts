/** Groups that DuckDB makes in place of the executor, with its answers to the last byte, whatever language asks. */
import { encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace, wholeOrganization } from './testing/open-tabular.ts';
import { bson } from './testing/push-down/document.ts';

const mql = (...stages: object[]): Plan => parseMql(stages.map((stage) => encodeBson(bson(stage) as never)));
const noonMs = Date.UTC(2026, 4, 17, 12);

/** Two sealed files and hot rows: what the sources give is merged. */
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
  'something in place of what is missing': mql({
    $group: { _id: { $ifNull: ['$data.seldom', 'none'] }, n: { $sum: 1 } },
  }),
  'what a condition says': mql({
    $group: { _id: { warm: { $gt: ['$data.t', 2] }, m: { $not: ['$data.m'] } }, n: { $sum: 1 } },
  }),
  'SQL, values that each count once': parseSql(
    'SELECT component_name AS c, COUNT(DISTINCT data.state) AS s, COUNT(DISTINCT time_requested) AS t, COUNT(DISTINCT robot_id) AS r, SUM(DISTINCT data.t) AS d, COUNT(*) AS n FROM readings GROUP BY component_name',
  ),
  'SQL, columns that each count once, of all rows': parseSql(
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
