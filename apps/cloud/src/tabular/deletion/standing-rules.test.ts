import { systemClock } from '@platform/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { type OpenTabular, openTabular, testPlace } from '../testing/open-tabular.ts';
import type { StandingRules } from './standing-rules.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const midnightMs = Date.UTC(2026, 4, 17);
const signal = new AbortController().signal;

interface World {
  nowMs: number;
  rules: StandingRules;
}

const nothing: StandingRules = { expired: [], recent: [] };

function openWorld(world: World): Promise<OpenTabular> {
  const clock = { ...systemClock, now: () => world.nowMs };
  return openTabular({ mergeFiles: 1_000 }, { clock, standingRulesOf: async () => world.rules });
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

async function seen(store: OpenTabular, source: 'readings' | 'hot' = 'readings'): Promise<number[]> {
  const rows = await store.mql([{ $project: { i: '$data.i' } }], {}, source);
  return rows.map((row) => Number(row['i'])).toSorted((a, b) => a - b);
}

test('D24 I10 a capture day is hidden from UTC midnight on, hot and sealed; rows of other parts and resources are not', async () => {
  const world: World = { nowMs: midnightMs - 1, rules: nothing };
  await using store = await openWorld(world);
  const rows: { part: string; component: string; day: string }[] = [];
  for (const part of ['p-1', 'p-2'])
    for (const component of ['a', 'b'])
      for (const daysAgo of [0, 1, 2, 3])
        for (const ms of [0, dayMs - 1]) {
          const receivedMs = midnightMs - dayMs - daysAgo * dayMs + ms;
          store.append({
            place: { ...testPlace, partId: part },
            metadata: { componentName: component },
            readings: [{ data: { i: rows.length }, receivedMs }],
            syncedMs: receivedMs + 1,
          });
          rows.push({ part, component, day: dayText(receivedMs) });
        }
  const check = async (): Promise<void> => {
    const rule = fc.record({
      part: fc.constantFrom('p-1', 'p-2', 'p-3'),
      component: fc.constantFrom(undefined, 'a', 'b'),
      days: fc.integer({ min: 1, max: 5 }),
    });
    const nowMs = fc.constantFrom(-1, 0, 1).map((ms) => midnightMs + ms);
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { maxLength: 4 }), nowMs, async (rules, now) => {
        world.nowMs = now;
        const firstDay = (days: number): string => dayText(Math.floor(now / dayMs) * dayMs - (days - 1) * dayMs);
        world.rules = {
          recent: [],
          expired: rules.map(({ part, component, days }) => ({
            paths: { part_id: [part], ...(component && { component_name: [component] }) },
            beforeDay: firstDay(days),
          })),
        };
        const isGone = (row: (typeof rows)[number]): boolean =>
          rules.some(
            ({ part, component, days }) =>
              part === row.part && (component ?? row.component) === row.component && row.day < firstDay(days),
          );
        expect(await seen(store)).toEqual(rows.flatMap((row, i) => (isGone(row) ? [] : [i])));
      }),
      { numRuns: 15 },
    );
  };
  await check();
  await store.tabular.seal();
  await check();
});

test('D24 I10 rows hidden by retention leave the disk: empty files are dropped, others rewritten, and other rows stay', async () => {
  const world: World = { nowMs: midnightMs, rules: nothing };
  await using store = await openWorld(world);
  for (const [i, part] of ['p-1', 'p-2', 'p-1', 'p-2'].entries())
    store.append({
      place: { ...testPlace, partId: part },
      readings: [{ data: { i }, receivedMs: midnightMs - (i < 2 ? 3 : 1) * dayMs }],
      syncedMs: midnightMs,
    });
  await store.tabular.seal();
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ droppedFiles: 0, rewrittenFiles: 0 });
  const hide = (part_id: string[]): void => {
    world.rules = { recent: [], expired: [{ paths: { part_id }, beforeDay: dayText(midnightMs - 2 * dayMs) }] };
  };
  hide(['p-1']);
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ droppedFiles: 0, rewrittenFiles: 1 });
  // Without the rule, rows that are still on the disk become visible.
  world.rules = nothing;
  expect(await seen(store)).toEqual([1, 2, 3]);
  hide(['p-1', 'p-2']);
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ droppedFiles: 1, rewrittenFiles: 0 });
  world.rules = nothing;
  expect(await seen(store)).toEqual([2, 3]);
  expect((await store.tabular.status()).fileRows).toBe(2);
  store.tabular.killProcess();
  expect(await seen(store)).toEqual([2, 3]);
});

test('the bytes of a resource on each day are those of its documents, read from the footers of files', async () => {
  const world: World = { nowMs: midnightMs, rules: nothing };
  await using store = await openWorld(world);
  for (const componentName of ['cpu', 'gpu'])
    for (const daysAgo of [0, 0, 1, 2])
      store.append({
        metadata: { componentName },
        readings: [{ data: { text: 'x'.repeat(daysAgo * 100) } }, { data: { i: daysAgo } }].map((each) => ({
          ...each,
          receivedMs: midnightMs - daysAgo * dayMs,
        })),
        syncedMs: midnightMs,
      });
  const rules = [{ component_name: ['cpu'] }, { component_name: ['cpu', 'gpu'], part_id: ['part-1'] }, { part_id: [] }];
  await store.tabular.seal();
  const bytes = { $sum: { $bsonSize: '$$ROOT' } };
  const sizesOf = async (match: object) => {
    const rows = await store.mql([{ $match: match }, { $group: { _id: '$capture_day', bytes } }]);
    return new Map(rows.map((row) => [row['_id'], Number(row['bytes'])]));
  };
  const expected = [await sizesOf({ component_name: 'cpu' }), await sizesOf({}), new Map()];
  for (const _ of [1, 2]) expect(await store.tabular.bytesByDay('org-1', rules, signal)).toEqual(expected);
});

test('I10 a deletion ends when no file needs it any more, and its rows stay hidden', async () => {
  const world: World = { nowMs: midnightMs, rules: nothing };
  await using store = await openWorld(world);
  const catalog = createCatalog(store.db);
  store.append({ readings: [{ data: { i: 0 } }, { data: { i: 1 } }] });
  const upTo = store.append({ metadata: { componentName: 'gpu' }, readings: [{ data: { i: 2 } }] });
  await catalog.addDelete('org-1', { predicate: { paths: { component_name: ['cpu'] } }, upTo }, 0);
  store.append({ readings: [{ data: { i: 3 } }] });
  // Its rows are still hot: a replay would restore them.
  await store.tabular.removeDeleted('org-1', signal);
  expect(await catalog.deletions('org-1')).toHaveLength(1);
  expect(await seen(store)).toEqual([2, 3]);
  await store.tabular.seal();
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ rewrittenFiles: 1, complete: true });
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ rewrittenFiles: 0, endedDeletions: 1 });
  expect(await catalog.deletions('org-1')).toEqual([]);
  expect(await seen(store)).toEqual([2, 3]);
  store.tabular.killProcess();
  expect(await seen(store)).toEqual([2, 3]);
});

test('the hot store is a window of time_received over the configured methods, exact to the millisecond, hot and sealed', async () => {
  const world: World = { nowMs: midnightMs + 90 * 60_000, rules: nothing };
  await using store = await openWorld(world);
  const fromMs = world.nowMs - 2 * hourMs;
  const at = [fromMs - 1, fromMs, fromMs + 1, world.nowMs, world.nowMs - 40 * dayMs, null];
  for (const [i, receivedMs] of at.entries())
    store.append({ readings: [{ data: { i }, receivedMs }], syncedMs: world.nowMs });
  store.append({ metadata: { componentName: 'other' }, readings: [{ data: { i: 10 } }], syncedMs: world.nowMs });
  store.append({ metadata: { methodName: 'Other' }, readings: [{ data: { i: 11 } }], syncedMs: world.nowMs });
  const paths = { part_id: ['part-1'], component_name: ['cpu'], method_name: ['Readings'] };
  for (const _ of ['hot', 'sealed']) {
    world.rules = nothing;
    expect(await seen(store, 'hot')).toEqual([]);
    world.rules = { expired: [], recent: [{ paths, storedHours: 2 }] };
    expect(await seen(store, 'hot')).toEqual([1, 2, 3]);
    expect((await seen(store)).length).toBe(8);
    await store.tabular.seal();
  }
  world.nowMs += 1;
  expect(await seen(store, 'hot')).toEqual([2, 3]);
});

test('D24 retention does not affect the hot store: its rows stay on the disk until no window can show them', async () => {
  const world: World = { nowMs: midnightMs + 12 * hourMs, rules: nothing };
  await using store = await openWorld(world);
  for (const [i, daysAgo] of [1, 2, 3, 4].entries())
    store.append({
      readings: [{ data: { i }, receivedMs: world.nowMs - daysAgo * dayMs }],
      syncedMs: world.nowMs,
    });
  await store.tabular.seal();
  const paths = { part_id: ['part-1'] };
  world.rules = {
    expired: [{ paths, beforeDay: dayText(midnightMs) }],
    recent: [{ paths: { ...paths, component_name: ['cpu'], method_name: ['Readings'] }, storedHours: 50 }],
  };
  for (const _ of [1, 2]) {
    expect(await seen(store)).toEqual([]);
    expect(await seen(store, 'hot')).toEqual([0, 1]);
    await store.tabular.removeDeleted('org-1', signal);
    expect((await store.tabular.status()).fileRows).toBe(2);
    store.tabular.killProcess();
  }
  // An explicit deletion covers rows that retention keeps.
  const recorded: number[] = [];
  const deletion = { predicate: { beforeDay: dayText(midnightMs - dayMs) }, dryRun: false };
  const record = async (_trx: unknown, rows: number) => void recorded.push(rows);
  expect(await store.tabular.deleteRows({ organizationId: 'org-1', ...deletion, record })).toBe(0);
  expect(recorded).toEqual([0]);
  expect(await seen(store, 'hot')).toEqual([0]);
  world.nowMs += 2 * dayMs;
  await store.tabular.removeDeleted('org-1', signal);
  expect(await store.tabular.status()).toMatchObject({ files: 0, fileRows: 0 });
  expect(await seen(store, 'hot')).toEqual([]);
});
