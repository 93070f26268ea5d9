/** Shares, histograms and CASE: DuckDB evaluates the conditions and counts, with the same results as the executor. */
import { encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenTabular, openTabular, wholeOrganization } from '../testing/open-tabular.ts';
import { bson } from '../testing/pushdown/document.ts';

const mql = (...stages: object[]): Plan => parseMql(stages.map((stage) => encodeBson(bson(stage) as never)));
const open = { $cond: ['$data.door', 1, 0] };
const queries: Readonly<Record<string, Plan>> = {
  share: mql({ $group: { _id: '$component_name', open: { $sum: open }, share: { $avg: open }, n: { $sum: 1 } } }),
  'sum of some': mql({
    $group: { _id: null, warm: { $sum: { $cond: [{ $gte: ['$data.t', 20] }, '$data.t', null] } } },
  }),
  histogram: mql({ $bucket: { groupBy: '$data.t', boundaries: [0, 10, 20, 30], default: 'other' } }),
  'key of conditions': mql({
    $group: {
      _id: { level: { $cond: [{ $gt: ['$data.t', 25] }, 'high', { $cond: ['$data.door', 'open', 'low'] }] } },
      latest: { $max: '$time_received' },
    },
  }),
  'CASE in a sum': parseSql(
    "SELECT component_name AS c, SUM(CASE WHEN data.t > 20 AND data.state = 'on' THEN data.t ELSE 0 END) AS s FROM readings GROUP BY component_name",
  ),
  'CASE in a count': parseSql('SELECT COUNT(CASE WHEN data.t IS NULL THEN 1 END) AS n FROM readings'),
};

let filled: OpenTabular;
beforeAll(async () => {
  filled = await openTabular();
  const readings = Array.from({ length: 300 }, (_, n) => ({
    data: { t: n % 7 === 0 ? null : n / 8, door: n % 3 === 0, state: n % 2 === 0 ? 'on' : 'off' },
  }));
  filled.append({ readings });
  await filled.tabular.seal();
});
afterAll(() => filled?.[Symbol.asyncDispose]());

test.each(Object.entries(queries))('%s', async (_, plan) => {
  const ask = { plan, scope: wholeOrganization, vocabulary: 'core' as const };
  const pushed = await filled.tabular.query({ ...ask, explain: true });
  const not = await filled.tabular.query({ ...ask, pushDown: false });
  expect(pushed.explain?.sources.map(({ does }) => does)).toEqual(['group']);
  expect(Buffer.from(pushed.bytes).toString('hex')).toBe(Buffer.from(not.bytes).toString('hex'));
});

test('a group key that fails for a series is an error, not a group', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { t: 1 } }] });
  await store.tabular.seal();
  await expect(store.mql([{ $group: { _id: { $toInt: '$component_name' } } }])).rejects.toMatchObject({
    message: expect.stringContaining('ConversionFailure'),
  });
});
