import { systemClock } from '@platform/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTabular, testPlace } from '../testing/open-tabular.ts';
import type { StandingRules } from './standing-rules.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 4, 17, 12);

test('I7 I10 push-down makes no difference for rows hidden by retention and for the hot store', async () => {
  const world: { rules: StandingRules } = { rules: { expired: [], recent: [] } };
  const clock = { ...systemClock, now: () => nowMs };
  await using store = await openTabular({ mergeFiles: 1_000 }, { clock, standingRulesOf: async () => world.rules });
  for (let i = 0; i < 160; i++) {
    store.append({
      place: { ...testPlace, partId: `p-${i % 3}` },
      metadata: { componentName: `c-${i % 2}` },
      readings: [{ data: { i, load: i / 8 }, receivedMs: i % 20 === 7 ? null : nowMs - (i % 4) * dayMs - i * 60_000 }],
      syncedMs: nowMs,
    });
    if (i === 60 || i === 120) await store.tabular.seal();
  }
  const parts = fc.subarray(['p-0', 'p-1', 'p-2'], { minLength: 1 });
  const components = fc.constantFrom({}, { component_name: ['c-0'] }, { component_name: ['c-1'] });
  const paths = fc.tuple(parts, components).map(([part_id, more]) => ({ part_id, ...more }));
  const beforeDay = fc.constantFrom('2026-05-15', '2026-05-16', '2026-05-17', '2026-05-18');
  const rules = fc.record({
    expired: fc.array(fc.record({ paths, beforeDay }), { maxLength: 3 }),
    recent: fc.array(fc.record({ paths, storedHours: fc.constantFrom(0.5, 13, 24, 40, 70) }), { maxLength: 3 }),
  });
  const byPart = { part_id: '$part_id', component_name: '$component_name' };
  const pipelines = [
    [{ $count: 'n' }],
    [{ $sort: { time_received: -1, 'data.i': 1 } }, { $limit: 5 }, { $project: { i: '$data.i' } }],
    [
      { $group: { _id: byPart, n: { $sum: 1 }, load: { $avg: '$data.load' }, most: { $max: '$data.i' } } },
      { $sort: { _id: 1 } },
    ],
    [
      { $sort: { time_received: -1 } },
      { $group: { _id: '$part_id', last: { $first: '$data.i' } } },
      { $sort: { _id: 1 } },
    ],
    [{ $match: { 'data.load': { $gte: 5, $lt: 15 } } }, { $project: { i: '$data.i' } }, { $sort: { i: 1 } }],
  ];
  const source = fc.constantFrom('readings' as const, 'hot' as const);
  let found = 0;
  await fc.assert(
    fc.asyncProperty(rules, source, fc.constantFrom(...pipelines), async (given, from, pipeline) => {
      world.rules = given;
      const pushed = await store.mql(pipeline, { pushDown: true }, from);
      expect(pushed).toEqual(await store.mql(pipeline, { pushDown: false }, from));
      if (pushed.length > 0) found++;
    }),
    { numRuns: 60 },
  );
  expect(found).toBeGreaterThan(20);
});
