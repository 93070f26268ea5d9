import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { systemClock } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { createCatalog } from './catalog/catalog.ts';
import type { DeletePredicate } from './catalog/row-filter.ts';
import { encodeUpload, openTabular, testPlace, wholeOrganization } from './testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);

test('I7 an appended row is visible to the next query', async () => {
  await using store = await openTabular();
  for (let i = 0; i < 30; i++) {
    store.append({ readings: [{ data: { i } }, { data: { i: i + 0.5 } }] });
    expect(await store.count()).toBe(2 * (i + 1));
  }
});

test('I7 a queued query answers with the rows present when it was submitted, not when it started', async () => {
  await using store = await openTabular({ concurrentQueries: 2 });
  store.append({ readings: [{ data: { i: 1 } }] });
  const asked = [1, 2, 3].map(() => store.ask([{ $count: 'n' }]));
  const before = store.tabular.lag().committedPosition;
  store.append({ readings: [{ data: { i: 2 } }] });
  expect((await Promise.all(asked)).map(({ upTo }) => upTo)).toEqual([before, before, before]);
  expect(await store.count()).toBe(2);
});

test('I7 a query whose rows cannot be loaded in time fails and never returns a partial answer', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.count();
  process.kill((await store.tabular.status()).processId ?? 0, 'SIGSTOP');
  store.append({ readings: [{ data: { i: 2 } }] });
  await expect(store.mql([], { deadlineMs: 200 })).rejects.toMatchObject({ code: 'deadline_exceeded' });
  store.tabular.killProcess();
  expect(await store.count()).toBe(2);
});

test('D25 hot and sealed rows have the same columns in the documented order', async () => {
  await using store = await openTabular();
  const upload = {
    metadata: { tags: ['a', 'b'], methodParameters: {} },
    readings: [
      {
        data: { readings: { load: 1, deep: { list: [1, 'x', null, true] } } },
        receivedMs: noonMs + 0.75,
        requestedMs: noonMs - 3,
      },
    ],
    syncedMs: noonMs + 60_000,
  };
  store.append(upload);
  const row = {
    organization_id: 'org-1',
    location_id: 'loc-1',
    robot_id: 'robot-1',
    part_id: 'part-1',
    component_type: 'core:component:sensor',
    component_name: 'cpu',
    method_name: 'Readings',
    capture_day: '2026-05-17',
    time_requested: new Date(noonMs - 3),
    time_received: new Date(noonMs),
    time_synced: new Date(noonMs + 60_000),
    tags: ['a', 'b'],
    additional_parameters: {},
    data: { readings: { load: 1, deep: { list: [1, 'x', null, true] } } },
  };
  const hot = await store.mql([]);
  await store.tabular.seal();
  const sealed = await store.mql([]);
  expect(hot).toEqual([row]);
  expect(sealed).toEqual([row]);
  expect(Object.keys(hot[0] ?? {})).toEqual(Object.keys(row));
  expect(Object.keys(sealed[0] ?? {})).toEqual(Object.keys(row));
});

test('D2 component_type uses the spelling of the calling peer, in rows and filters', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  for (const _ of ['hot', 'sealed']) {
    const spelled = await store.mql([{ $match: { component_type: 'rdk:component:sensor' } }], { vocabulary: 'rdk' });
    expect(spelled).toMatchObject([{ component_type: 'rdk:component:sensor' }]);
    expect(await store.mql([{ $match: { component_type: 'rdk:component:sensor' } }])).toEqual([]);
    await store.tabular.seal();
  }
});

test('D24 the capture day comes from time_received, or from the upload when the clock is absurd', async () => {
  await using store = await openTabular();
  const day = 86_400_000;
  const syncedMs = noonMs;
  for (const receivedMs of [
    noonMs - 40 * day,
    noonMs + day - 1,
    noonMs + day + 1,
    Date.UTC(2019, 11, 31),
    0,
    -1,
    null,
  ]) {
    store.append({ readings: [{ data: {}, receivedMs }], syncedMs });
  }
  const days = ['2026-04-07', '2026-05-18', '2026-05-17', '2026-05-17', '2026-05-17', '2026-05-17', '2026-05-17'];
  expect((await store.mql([])).map((row) => row['capture_day'])).toEqual(days);
  await store.tabular.seal();
  expect((await store.mql([])).map((row) => row['capture_day'])).toEqual(days.toSorted());
  const missing = await store.mql([{ $match: { time_received: null } }]);
  expect(missing.map((row) => row['time_received'])).toEqual([null]);
  expect(await store.mql([{ $match: { time_received: new Date(-1) } }])).toHaveLength(1);
});

test('I8 a damaged row is marked and skipped, and its neighbours are readable', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  const torn = encodeUpload({ readings: [{ data: { i: 2 } }, { data: { i: 3 } }] });
  const bad = store.appendRaw(torn.subarray(0, torn.length - 5));
  const inner = encodeUpload({ readings: [{ data: { long: 'x'.repeat(40) } }] });
  const at = Buffer.from(inner).indexOf('xxxx');
  inner[at - 1] = 200;
  const badInside = store.appendRaw(inner);
  store.append({ readings: [{ data: { i: 4 } }] });
  expect(await store.count()).toBe(2);
  expect([...store.damaged.keys()]).toEqual([bad, badInside]);
  expect((await store.tabular.status()).damagedRows).toBe(2);
  expect(await store.tabular.seal()).toBe(badInside + 1);
  expect(await store.count()).toBe(2);
});

test("I8 a damaged reading inside a row is reported and counted, and the row's other readings are readable", async () => {
  await using store = await openTabular();
  let deep: JsonObject = {};
  for (let level = 1; level < 250; level++) deep = { deep };
  const position = store.append({ readings: [{ data: { i: 1 } }, { data: deep }, { data: { i: 3 } }, { data: deep }] });
  store.append({ readings: [{ data: { i: 4 } }] });
  const read = async (): Promise<unknown[]> =>
    (await store.mql([{ $project: { i: '$data.i' } }, { $sort: { i: 1 } }])).map((row) => row['i']);
  expect(await read()).toEqual([1, 3, 4]);
  expect([...store.damaged.keys()]).toEqual([position]);
  expect(store.damaged.get(position)).toMatch(/^reading 1: .*nested.*; reading 3: .*nested/);
  expect(await store.tabular.status()).toMatchObject({ damagedRows: 1, damagedReadings: 2 });
  await store.tabular.seal();
  expect(await read()).toEqual([1, 3, 4]);
});

test('only tabular uploads become rows, and other uploads do not hold back the sealed position', async () => {
  await using store = await openTabular();
  store.append({ metadata: { type: DataType.FILE }, readings: [{ data: { i: 1 } }] });
  const last = store.append({ metadata: { type: DataType.BINARY_SENSOR }, readings: [{ data: { i: 1 } }] });
  expect(await store.count()).toBe(0);
  expect(await store.tabular.seal()).toBe(last);
  expect((await store.tabular.status()).files).toBe(0);
});

test('D26 queries return no row of another organization, location or machine', async () => {
  await using store = await openTabular();
  const places = [
    testPlace,
    { ...testPlace, organizationId: 'org-2', partId: 'canary' },
    { ...testPlace, locationId: 'loc-2', robotId: 'robot-2', partId: 'elsewhere' },
    { ...testPlace, robotId: 'robot-3', partId: 'beside' },
  ];
  for (const place of places) store.append({ place, readings: [{ data: { part: place.partId } }] });
  const seen = async (scope: object): Promise<unknown[]> => {
    const rows = await store.mql([{ $project: { part_id: 1 } }, { $sort: { part_id: 1 } }], {
      scope: { ...wholeOrganization, ...scope },
    });
    return rows.map((row) => row['part_id']);
  };
  for (const _ of ['hot', 'sealed']) {
    expect(await seen({})).toEqual(['beside', 'elsewhere', 'part-1']);
    expect(await seen({ organizationId: 'org-2' })).toEqual(['canary']);
    expect(await seen({ locationIds: ['loc-1'], robotIds: [] })).toEqual(['beside', 'part-1']);
    expect(await seen({ locationIds: [], robotIds: ['robot-3'] })).toEqual(['beside']);
    expect(await seen({ locationIds: ['loc-2'], robotIds: ['robot-1'] })).toEqual(['elsewhere', 'part-1']);
    expect(await seen({ locationIds: [], robotIds: [] })).toEqual([]);
    expect(await seen({ locationIds: null, robotIds: ['robot-3'] })).toEqual(['beside']);
    expect(await seen({ organizationId: 'org-3' })).toEqual([]);
    await store.tabular.seal();
  }
  const files = await store.db
    .selectFrom('tabular_files')
    .select(['organization_id', 'rows'])
    .orderBy('organization_id')
    .execute();
  expect(files).toEqual([
    { organization_id: 'org-1', rows: 3 },
    { organization_id: 'org-2', rows: 1 },
  ]);
});

test('I9 sealing keeps every row, and the catalog lists what the files hold', async () => {
  await using store = await openTabular({ fileBytes: 10_000 });
  const day = 86_400_000;
  for (let i = 0; i < 400; i++) {
    store.append({
      metadata: { componentName: `c${i % 3}`, tags: i % 2 ? ['odd'] : [] },
      readings: [{ data: { i, text: 'y'.repeat(60) }, receivedMs: noonMs + (i % 2) * day }],
      syncedMs: noonMs + day,
    });
  }
  expect(await store.count()).toBe(400);
  const sealed = await store.tabular.seal();
  expect(sealed).toBe(400);
  const rows = await store.mql([{ $project: { i: '$data.i', component_name: 1, tags: 1 } }, { $sort: { i: 1 } }]);
  expect(rows).toEqual(
    Array.from({ length: 400 }, (_, i) => ({ component_name: `c${i % 3}`, tags: i % 2 ? ['odd'] : [], i })),
  );
  const files = await store.db.selectFrom('tabular_files').selectAll().execute();
  expect(files.length).toBeGreaterThan(3);
  expect(files.reduce((sum, file) => sum + file.rows, 0)).toBe(400);
  expect(new Set(files.map((file) => file.capture_day))).toEqual(new Set(['2026-05-17', '2026-05-18']));
  expect(await filesOf(store)).toEqual(files.map((file) => file.file).toSorted());
  // The hot rows are gone, and files are metered with the same bytes as hot rows.
  await expect.poll(async () => (await store.tabular.status()).hotRows).toBe(0);
});

test('I9 unlisted files are removed at start, and foreign files are left alone', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.tabular.seal();
  const directory = join(store.dataDir, 'parquet');
  const listed = await readdir(directory);
  for (const name of ['2026-01-01-left.parquet', '2026-01-01-left.parquet.tmp', 'notes.txt'])
    await writeFile(join(directory, name), 'x');
  store.tabular.killProcess();
  await expect.poll(async () => (await store.tabular.status()).restarts).toBe(1);
  expect(await store.count()).toBe(1);
  expect((await readdir(directory)).toSorted()).toEqual([...listed, 'notes.txt'].toSorted());
});

test('D26 scanned bytes are counted per month, equally for hot and sealed rows, and refused above the limit', async () => {
  const clock = { ...systemClock, now: () => noonMs };
  await using store = await openTabular({}, { clock, monthlyScanBytesOf: () => 2_000 });
  for (let i = 0; i < 4; i++) store.append({ readings: [{ data: { i } }] });
  const used = async (): Promise<number> =>
    (await store.db.selectFrom('tabular_usage').select('scanned_bytes').executeTakeFirst())?.scanned_bytes ?? 0;
  const bytes = (
    await store.tabular.query({
      plan: { source: 'readings', stages: [] },
      scope: wholeOrganization,
      vocabulary: 'core',
    })
  ).bytes.length;
  // The usage is written after the answer.
  await expect.poll(used).toBe(bytes);
  await store.tabular.seal();
  expect(await store.db.selectFrom('tabular_files').select('logical_bytes').execute()).toEqual([
    { logical_bytes: bytes },
  ]);
  await store.mql([{ $match: { part_id: 'nobody' } }]);
  await expect.poll(used).toBe(bytes);
  await expect(store.mql([])).rejects.toMatchObject({ code: 'resource_exhausted' });
  await expect.poll(used).toBe(bytes);
});

test('an answer that is too large is refused with advice', async () => {
  await using store = await openTabular({ maxResultBytes: 10_000 });
  for (let i = 0; i < 3; i++) store.append({ readings: [{ data: { text: 'z'.repeat(5_000) } }] });
  await expect(store.mql([])).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: expect.stringContaining('$limit'),
  });
  expect(await store.mql([{ $limit: 1 }])).toHaveLength(1);
});

test('I10 a deletion applies to rows up to its position in files, hot rows and replay', async () => {
  await using store = await openTabular();
  const append = (componentName: string, receivedMs: number, i: number): number =>
    store.append({ metadata: { componentName }, readings: [{ data: { i }, receivedMs }], syncedMs: noonMs });
  append('cpu', noonMs, 1);
  append('disk', noonMs, 2);
  append('cpu', noonMs - 3 * 86_400_000, 3);
  const upTo = append('cpu', noonMs, 4);
  append('cpu', noonMs, 5);
  const left = async (): Promise<unknown[]> =>
    (await store.mql([{ $project: { i: '$data.i' } }, { $sort: { i: 1 } }])).map((row) => row['i']);
  expect(await left()).toEqual([1, 2, 3, 4, 5]);
  const addDelete = (predicate: DeletePredicate): Promise<void> =>
    createCatalog(store.db).addDelete('org-1', { predicate, upTo }, 0);
  await addDelete({ paths: { component_name: ['cpu'] }, beforeDay: '2026-05-16' });
  expect(await left()).toEqual([1, 2, 4, 5]);
  await addDelete({ paths: { component_name: ['cpu'] } });
  expect(await left()).toEqual([2, 5]);
  store.tabular.killProcess();
  expect(await left()).toEqual([2, 5]);
  await store.tabular.seal();
  expect(await left()).toEqual([2, 5]);
});

test('a cancelled query ends at once and the next one is answered', async () => {
  // Longer than a poll: the test fails if the child must be killed to end the query, but passes on a slow computer.
  await using store = await openTabular({ killAfterMs: 90_000 });
  const readings = Array.from({ length: 5_000 }, (_, i) => ({ data: { i, text: 'q'.repeat(50) } }));
  for (let i = 0; i < 10; i++) store.append({ readings });
  expect(await store.count()).toBe(50_000);
  const cancel = new AbortController();
  const long = { $sum: { $map: { input: { $range: [0, 100_000] }, in: { $add: ['$$this', '$data.i'] } } } };
  const query = store.mql([{ $project: { long } }, { $group: { _id: '$long' } }], { signal: cancel.signal });
  const running = async (): Promise<number> => (await store.tabular.status()).runningQueries;
  await expect.poll(running).toBe(1);
  cancel.abort();
  await expect(query).rejects.toMatchObject({ code: 'canceled' });
  expect(await store.count()).toBe(50_000);
  await expect.poll(running).toBe(0);
  expect((await store.tabular.status()).restarts).toBe(0);
});

test('I9 many small files of a day are merged into one with the same rows', async () => {
  await using store = await openTabular({ mergeFiles: 5 });
  for (let i = 0; i < 12; i++) {
    const place = { ...testPlace, organizationId: i === 7 ? 'org-2' : 'org-1' };
    store.append({
      place,
      metadata: { componentName: `c${i % 3}` },
      readings: [{ data: { i }, receivedMs: i % 4 === 0 ? null : noonMs + i }],
      syncedMs: noonMs,
    });
    const sealing = store.tabular.seal();
    await Promise.all([sealing, store.count()]);
  }
  const rows = await store.mql([{ $sort: { 'data.i': 1 } }]);
  expect(rows.map((row) => (row['data'] as { i: number }).i)).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]);
  expect(rows.map((row) => row['time_received'])).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11].map((i) => (i % 4 === 0 ? null : new Date(noonMs + i))),
  );
  await expect.poll(async () => (await store.tabular.status()).files).toBeLessThan(6);
  expect(await store.mql([{ $sort: { 'data.i': 1 } }])).toEqual(rows);
  const listed = await store.db.selectFrom('tabular_files').select('file').execute();
  await expect.poll(() => filesOf(store)).toEqual(listed.map(({ file }) => file).toSorted());
});

test('a missing listed file causes an error, not a shorter answer', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.tabular.seal();
  store.append({ readings: [{ data: { i: 2 } }] });
  const [file = ''] = await filesOf(store);
  await rm(join(store.dataDir, 'parquet', file));
  await expect(store.mql([])).rejects.toMatchObject({ code: 'data_loss' });
});

/** Names of the sealed files on the disk. */
async function filesOf({ dataDir }: { readonly dataDir: string }): Promise<string[]> {
  const names = await readdir(join(dataDir, 'parquet'));
  return names.filter((name) => !name.startsWith('.')).toSorted();
}
