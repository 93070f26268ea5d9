import { type DeleteTabularFilter, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { ManualClock } from '../../machines/testing/manual-clock.ts';
import { type OpenTabular, openTabular, testPlace } from '../../tabular/testing/open-tabular.ts';
import { serveQueries } from '../testing/serve-queries.ts';

const dayMs = 86_400_000;
/** 05:00 UTC on the 11th. */
const nowMs = Date.UTC(2026, 2, 11, 5);
const place2 = { organizationId: 'org-1', locationId: 'loc-2', robotId: 'robot-2', partId: 'part-2' };

async function openAt(ms: number) {
  const clock = new ManualClock();
  clock.wallMs = ms;
  const stack = new AsyncDisposableStack();
  const store = stack.use(await openTabular());
  const queries = stack.use(await serveQueries(store, { clock }));
  return {
    store,
    async remove(days: number, filter?: Partial<DeleteTabularFilter>, headers: Record<string, string> = {}) {
      const said: Record<string, string> = {};
      const { deletedCount } = await queries.client.deleteTabularData(
        { organizationId: 'org-1', deleteOlderThanDays: days, ...(filter && { filter: filter as never }) },
        {
          headers: { 'x-who': 'owner', ...headers },
          onHeader: (given: Headers) => void Object.assign(said, Object.fromEntries(given)),
        },
      );
      return { deletedCount, said };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function left(store: OpenTabular): Promise<unknown[]> {
  return (await store.mql([{ $project: { i: '$data.i' } }, { $sort: { i: 1 } }])).map((row) => row['i']);
}

test('DeleteTabularData: deletes whole UTC days and keeps today; the count is exact in files and hot rows', async () => {
  await using open = await openAt(nowMs);
  const { store, remove } = open;
  const captured = [Date.UTC(2026, 2, 8, 12), Date.UTC(2026, 2, 9, 23, 59, 59, 999), Date.UTC(2026, 2, 10)];
  captured.push(Date.UTC(2026, 2, 10, 23, 59, 59, 999), Date.UTC(2026, 2, 11), nowMs);
  for (const [i, receivedMs] of captured.entries()) {
    store.append({ readings: [{ data: { i }, receivedMs }], syncedMs: nowMs });
    if (i === 2) await store.tabular.seal();
  }
  expect((await remove(4)).deletedCount).toBe(0n);
  expect((await remove(3)).deletedCount).toBe(1n);
  expect(await left(store)).toEqual([1, 2, 3, 4, 5]);
  expect((await remove(1)).deletedCount).toBe(3n);
  expect(await left(store)).toEqual([4, 5]);
  expect((await remove(1)).deletedCount).toBe(0n);
  expect((await remove(4_000_000_000)).deletedCount).toBe(0n);
  expect((await remove(0)).deletedCount).toBe(2n);
  expect(await left(store)).toEqual([]);
  // Readings that arrive afterwards stay, even for days that were deleted.
  store.append({ readings: [{ data: { i: 9 }, receivedMs: captured[0] ?? 0 }], syncedMs: nowMs });
  expect(await left(store)).toEqual([9]);
});

test('DeleteTabularData: only rows that match the filter are deleted, and other organizations are not touched', async () => {
  await using open = await openAt(nowMs);
  const { store, remove } = open;
  const append = (i: number, metadata: object, place = testPlace): number =>
    store.append({ place, metadata, readings: [{ data: { i }, receivedMs: nowMs - 3 * dayMs }], syncedMs: nowMs });
  append(1, { componentName: 'cpu', tags: ['a'] });
  append(2, { componentName: 'cpu', tags: ['b'] });
  append(3, { componentName: 'disk', methodName: 'Position' });
  append(4, { componentName: 'cpu' }, place2);
  append(5, { componentName: 'cpu', componentType: 'core:component:motor' });
  store.append({ place: { ...testPlace, organizationId: 'org-2' }, readings: [{ data: { i: 6 } }] });
  const tags = (type: TagsFilterType, ...named: string[]) => ({ tagsFilter: { type, tags: named } as never });
  expect((await remove(1, { componentName: 'cpu', partId: 'part-9' })).deletedCount).toBe(0n);
  expect((await remove(1, { componentType: 'motor' })).deletedCount).toBe(1n);
  await expect(remove(1, tags(TagsFilterType.MATCH_BY_OR))).rejects.toThrow(
    /tags_filter.tags: expected at least one tag/,
  );
  expect((await remove(1, tags(TagsFilterType.MATCH_BY_OR, 'b', 'c'))).deletedCount).toBe(1n);
  expect((await remove(1, { method: 'Position', robotId: 'robot-1' })).deletedCount).toBe(1n);
  expect(await left(store)).toEqual([1, 4]);
  expect((await remove(1, tags(TagsFilterType.UNTAGGED))).deletedCount).toBe(1n);
  expect((await remove(1, { locationIds: ['loc-2', 'loc-1'], ...tags(TagsFilterType.TAGGED) })).deletedCount).toBe(1n);
  expect(await left(store)).toEqual([]);
  const scope = { organizationId: 'org-2', locationIds: null, robotIds: null };
  expect(await store.mql([{ $count: 'n' }], { scope })).toEqual([{ n: 1 }]);
});

test('DeleteTabularData: a dry run counts without deleting and reports that; values other than true and false are refused', async () => {
  await using open = await openAt(nowMs);
  const { store, remove } = open;
  store.append({ readings: [{ data: { i: 1 }, receivedMs: nowMs - dayMs }], syncedMs: nowMs });
  const dry = await remove(1, undefined, { 'platform-dry-run': 'true' });
  expect(dry).toMatchObject({ deletedCount: 1n, said: { 'platform-dry-run': 'true' } });
  expect(await left(store)).toEqual([1]);
  const locationIds = Array.from({ length: 2_000 }, (_, i) => `location-${i}`);
  await expect(remove(1, { locationIds })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(remove(1, undefined, { 'platform-dry-run': 'yes' })).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(await left(store)).toEqual([1]);
  const wet = await remove(1, undefined, { 'platform-dry-run': 'false' });
  expect(wet.deletedCount).toBe(1n);
  expect(wet.said['platform-dry-run']).toBeUndefined();
});

test('DeleteTabularData is for owners, and the audit trail records what was deleted', async () => {
  await using open = await openAt(nowMs);
  const { store, remove } = open;
  store.append({ readings: [{ data: { i: 1 }, receivedMs: nowMs - dayMs }], syncedMs: nowMs });
  await expect(remove(1, undefined, { 'x-who': 'operator' })).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(remove(1, undefined, { 'x-who': 'owner loc-1' })).rejects.toMatchObject({ code: 'permission_denied' });
  await remove(1, undefined, { 'platform-dry-run': 'true' });
  await remove(1, { componentName: 'cpu' });
  await remove(1, { componentName: 'cpu' });
  const entries = await store.db.selectFrom('audit_entries').select(['action', 'target_id', 'detail']).execute();
  expect(entries).toEqual([
    { action: 'DataService.DeleteTabularData', target_id: 'org-1', detail: expect.any(String) },
  ]);
  expect(JSON.parse(entries[0]?.detail ?? '')).toEqual({
    rows: 1,
    olderThanDays: 1,
    beforeDay: '2026-03-11',
    paths: { component_name: ['cpu'] },
  });
});

test("D26 deletion is not metered: it works even when the month's allowance is used up", async () => {
  const clock = new ManualClock();
  clock.wallMs = nowMs;
  await using store = await openTabular({}, { monthlyScanBytesOf: () => 100 });
  await using queries = await serveQueries(store, { clock });
  store.append({ readings: [{ data: { i: 1 }, receivedMs: nowMs - dayMs }], syncedMs: nowMs });
  await store.tabular.seal();
  await expect(store.mql([])).rejects.toMatchObject({ code: 'resource_exhausted' });
  const request = { organizationId: 'org-1', deleteOlderThanDays: 1 };
  expect(await queries.client.deleteTabularData(request, { headers: { 'x-who': 'owner' } })).toMatchObject({
    deletedCount: 1n,
  });
});
