import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace } from '../../tabular/testing/open-tabular.ts';
import { adminOf, backUp, forgetRows } from '../testing/repairing.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const sorted = [{ $sort: { 'data.i': 1, 'data.more': 1 } }] as const;

/** Appends three uploads of one day, interleaved with rows of another organization. */
function fill(store: OpenTabular, from = 0): void {
  const place = { ...testPlace, organizationId: 'org-2' };
  for (let i = from; i < from + 3; i++) {
    const readings = [{ data: { i }, receivedMs: noonMs + i }, { data: { i, more: 'x' } }];
    store.append({ readings, syncedMs: noonMs });
    store.append({ place, readings, syncedMs: noonMs });
  }
}

async function filesOf(store: OpenTabular): Promise<string[]> {
  const rows = await store.db
    .selectFrom('tabular_files')
    .select('file')
    .where('organization_id', '=', 'org-1')
    .orderBy('min_position')
    .execute();
  return rows.map(({ file }) => file);
}

const pathOf = (store: OpenTabular, file: string): string => join(store.dataDir, 'parquet', file);

test('D33 a damaged file whose rows are still in the ingest log is rebuilt from them, without a backup', async () => {
  await using store = await openTabular();
  fill(store);
  await store.tabular.seal();
  const right = await store.mql(sorted);
  const [file = ''] = await filesOf(store);
  await truncate(pathOf(store, file), 100);
  await expect(store.mql(sorted)).rejects.toMatchObject({ code: 'data_loss' });
  const admin = await adminOf(store);
  const found = { what: `parquet/${file}`, detail: 'its rows from the ingest log' };
  expect(await admin.repair({ apply: false })).toMatchObject([{ ...found, outcome: 'can be restored' }]);
  await expect(store.mql(sorted)).rejects.toMatchObject({ code: 'data_loss' });
  expect(await admin.repair()).toMatchObject([{ ...found, outcome: 'restored', rows: 6 }]);
  expect(await store.mql(sorted)).toEqual(right);
  expect(right).toHaveLength(6);
  expect(await admin.repair()).toEqual([]);
  expect(await admin.wrong()).toEqual([]);
  expect(await readdir(pathOf(store, 'quarantine'))).toEqual([file]);
  expect(await admin.call('audit')).toMatchObject([{ action: 'admin.repair.restored', targetId: file }]);
});

test('D33 a file stays lost if the ingest log lacks one of its rows, and the report says so', async () => {
  await using store = await openTabular();
  fill(store);
  await store.tabular.seal();
  forgetRows(store, 'position = 3');
  const [file = ''] = await filesOf(store);
  await rm(pathOf(store, file));
  const admin = await adminOf(store);
  const lost = { outcome: 'lost', detail: expect.stringMatching(/^the ingest log has 4 of its 6 rows; see --from/) };
  expect(await admin.repair()).toMatchObject([lost]);
  await expect(store.mql(sorted)).rejects.toMatchObject({ code: 'data_loss' });
  expect((await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('D33 a file is not rebuilt from a log row that was changed since', async () => {
  await using store = await openTabular();
  fill(store);
  await store.tabular.seal();
  {
    using db = new DatabaseSync(join(store.dataDir, 'ingest.sqlite'), { timeout: 60_000 });
    db.exec('update log set batch = (select batch from log where position = 5) where position = 3');
  }
  await rm(pathOf(store, (await filesOf(store))[0] ?? ''));
  const admin = await adminOf(store);
  expect(await admin.repair()).toMatchObject([{ outcome: 'lost', detail: expect.stringContaining('4 of its 6 rows') }]);
});

test('D33 of several files with the same positions, any damaged ones are rebuilt, one or all', async () => {
  await using store = await openTabular({ fileBytes: 20_000 });
  const readings = Array.from({ length: 400 }, (_, i) => ({
    data: { i, more: 'x'.repeat(100) },
    receivedMs: noonMs + (i % 7),
  }));
  for (let from = 0; from < 400; from += 50)
    store.append({ readings: readings.slice(from, from + 50), syncedMs: noonMs });
  await store.tabular.seal();
  const right = await store.mql(sorted);
  const files = await filesOf(store);
  expect(files.length).toBeGreaterThan(2);
  const admin = await adminOf(store);
  await truncate(pathOf(store, files[1] ?? ''), 100);
  expect(await admin.repair()).toMatchObject([{ outcome: 'restored' }]);
  expect(await store.mql(sorted)).toEqual(right);
  const now = await filesOf(store);
  for (const file of now.slice(0, 2)) await rm(pathOf(store, file));
  expect(await admin.repair()).toMatchObject([{ outcome: 'restored' }, { outcome: 'restored' }]);
  expect(await store.mql(sorted)).toEqual(right);
  expect(right).toHaveLength(400);
});

test.each([
  ['which still holds them', false],
  ['which was written without them', true],
])('D33 deleted rows do not reappear when a file %s is rebuilt', async (_which, isRemoved) => {
  await using store = await openTabular();
  fill(store);
  const readings = [{ data: { i: 0, gone: 1 }, receivedMs: noonMs }];
  store.append({ metadata: { componentName: 'gone' }, readings, syncedMs: noonMs });
  await store.tabular.seal();
  // After the sealed position, so that the deletion stays listed.
  store.append({ metadata: { componentName: 'later' }, readings, syncedMs: noonMs });
  const [before] = await filesOf(store);
  const predicate = { paths: { component_name: ['gone'] } };
  await store.tabular.deleteRows({ organizationId: 'org-1', predicate, dryRun: false, record: async () => {} });
  if (isRemoved) await store.tabular.removeDeleted('org-1', new AbortController().signal);
  const right = await store.mql(sorted);
  const [file = ''] = await filesOf(store);
  expect(file === before).toBe(!isRemoved);
  await rm(pathOf(store, file));
  const admin = await adminOf(store);
  expect(await admin.repair()).toMatchObject([{ outcome: 'restored', rows: isRemoved ? 6 : 7 }]);
  expect(await store.mql(sorted)).toEqual(right);
  expect(right).toHaveLength(7);
});

test('D33 rows are restored from several sources together: files and log of the backup, and the current log', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openTabular({ mergeFiles: 3 });
  const from = directory.file('backup');
  const place = { ...testPlace, organizationId: 'org-1' };
  const upload = (i: number) => ({ place, readings: [{ data: { i }, receivedMs: noonMs + i }], syncedMs: noonMs });
  store.append(upload(0));
  await store.tabular.seal();
  // One row each only in the backup's files, only in its log, and only in the current log.
  forgetRows(store, 'position <= 1');
  store.append(upload(1));
  await backUp(store, from, await filesOf(store), true);
  await store.tabular.seal();
  forgetRows(store, 'position <= 2');
  store.append(upload(2));
  await store.tabular.seal();
  await expect.poll(async () => (await filesOf(store)).length).toBe(1);
  const right = await store.mql(sorted);
  await rm(pathOf(store, (await filesOf(store))[0] ?? ''));
  const admin = await adminOf(store);
  expect(await admin.repair()).toMatchObject([{ outcome: 'lost', detail: expect.stringContaining('1 of its 3 rows') }]);
  const detail = `its rows from files of ${from} and the ingest log and the ingest log of ${from}`;
  expect(await admin.repair({ from })).toMatchObject([{ outcome: 'restored', detail }]);
  expect(await store.mql(sorted)).toEqual(right);
  expect(right).toHaveLength(3);
});
