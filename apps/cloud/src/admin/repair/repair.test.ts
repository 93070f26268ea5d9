import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { inFolder } from '../../tabular/testing/fill-days.ts';
import { type OpenTabular, openTabular, testPlace } from '../../tabular/testing/open-tabular.ts';
import { adminOf, backUp, forgetRows } from '../testing/repairing.ts';
import { mendCatalog } from './repair.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;

async function fill(store: OpenTabular): Promise<string[]> {
  for (let day = 0; day < 3; day++)
    store.append({ readings: [{ data: { day }, receivedMs: noonMs + day * dayMs }], syncedMs: noonMs + 3 * dayMs });
  await store.tabular.seal();
  forgetRows(store, 'position <= 3');
  return (await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.parquet')).toSorted();
}

test('D33 a damaged file is restored from a backup; without --apply nothing changes, and a second repair finds nothing to do', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openTabular();
  const files = await fill(store);
  const right = await store.mql([{ $sort: { capture_day: 1 } }]);
  await backUp(store, directory.file('backup'), files);
  const [first = '', second = ''] = files;
  const admin = await adminOf(store);
  expect(await admin.wrong()).toEqual([]);
  await truncate(join(store.dataDir, 'parquet', first), 100);
  await rm(join(store.dataDir, 'parquet', second));
  await expect(store.mql([])).rejects.toMatchObject({ code: 'data_loss' });
  await expect
    .poll(() => admin.call('status'))
    .toMatchObject({
      damagedFiles: [expect.stringMatching(`^parquet/${first}: it has 100 bytes instead of`)],
      damagedCatalog: [],
    });
  expect(await admin.wrong()).toEqual([first, second]);
  const from = directory.file('backup');
  expect((await admin.repair()).map(({ outcome }) => outcome)).toEqual(['lost', 'lost']);
  const dry = await admin.repair({ from, apply: false });
  expect(dry.map(({ outcome }) => outcome)).toEqual(['can be restored', 'can be restored']);
  await expect(store.mql([])).rejects.toMatchObject({ code: 'data_loss' });
  expect((await admin.repair({ from })).map(({ outcome }) => outcome)).toEqual(['restored', 'restored']);
  expect(await store.mql([{ $sort: { capture_day: 1 } }])).toEqual(right);
  expect(await admin.call('status')).toMatchObject({ damagedFiles: [], damagedCatalog: [] });
  expect(await admin.repair({ from })).toEqual([]);
  // The quarantine was removed.
  expect(await readdir(join(store.dataDir, 'parquet'))).not.toContain('quarantine');
  expect(await admin.call('audit')).toMatchObject([
    { action: 'admin.repair.restored', actorName: 'root', targetId: second },
    { action: 'admin.repair.restored', actorName: 'root', targetId: first },
  ]);
});

test('D33 a file that cannot be restored is removed from the list only when its loss is accepted, and is kept in quarantine', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openTabular();
  const [first = '', ...others] = await fill(store);
  // A backup that is itself damaged restores nothing.
  await backUp(store, directory.file('backup'), [first]);
  await truncate(join(directory.file('backup'), 'parquet', first), 50);
  await truncate(join(store.dataDir, 'parquet', first), 100);
  const admin = await adminOf(store);
  const from = directory.file('backup');
  const lost = {
    what: `parquet/${first}`,
    damage: expect.stringContaining('it has 100 bytes instead of'),
    ...{ organizationId: 'org-1', captureDay: '2026-05-17', rows: 1, firstMs: noonMs, lastMs: noonMs },
  };
  expect(await admin.repair({ from })).toMatchObject([{ ...lost, outcome: 'lost' }]);
  const kept = `parquet/quarantine/${first}`;
  expect(await admin.repair({ from, acceptLoss: true, apply: false })).toMatchObject([
    { ...lost, outcome: 'would be given up', detail: `would be kept as ${kept}` },
  ]);
  await expect(store.mql([])).rejects.toMatchObject({ code: 'data_loss' });
  expect(await admin.repair({ from, acceptLoss: true })).toMatchObject([
    { ...lost, outcome: 'loss accepted', detail: `kept as ${kept}` },
  ]);
  expect(await store.count()).toBe(2);
  const parquet = join(store.dataDir, 'parquet');
  const left = (await readdir(parquet)).filter((name) => !name.startsWith('.'));
  expect(left.toSorted()).toEqual([...others, 'quarantine'].toSorted());
  expect(await readdir(join(parquet, 'quarantine'))).toEqual([first]);
  expect(await admin.repair({ from, acceptLoss: true })).toEqual([]);
  expect(await admin.call('audit')).toMatchObject([
    {
      action: 'admin.repair.accept-loss',
      actorName: 'root',
      organizationId: 'org-1',
      targetId: first,
      detail: { rows: 1 },
    },
  ]);
  store.tabular.killProcess();
  await expect.poll(async () => (await store.tabular.status()).restarts).toBe(1);
  expect(await store.count()).toBe(2);
  expect(await readdir(join(parquet, 'quarantine'))).toEqual([first]);
});

test('D33 when the loss of a missing file is accepted, repair reports that nothing is kept', async () => {
  await using store = await openTabular();
  const [first = ''] = await fill(store);
  const parquet = join(store.dataDir, 'parquet');
  await rm(join(parquet, first));
  const admin = await adminOf(store);
  const detail = 'nothing is kept: the file is missing';
  expect(await admin.repair({ acceptLoss: true, apply: false })).toMatchObject([
    { what: `parquet/${first}`, outcome: 'would be given up', detail },
  ]);
  expect(await admin.repair({ acceptLoss: true })).toMatchObject([
    { what: `parquet/${first}`, outcome: 'loss accepted', detail },
  ]);
  expect(await readdir(parquet)).not.toContain('quarantine');
});

test('D33 losses of the ingest log are reported, and given up when accepted', async () => {
  await using store = await openTabular();
  for (const i of [1, 2, 3]) store.append({ readings: [{ data: { i } }] });
  expect(await store.count()).toBe(3);
  {
    using db = new DatabaseSync(join(store.dataDir, 'ingest.sqlite'), { timeout: 60_000 });
    db.exec('update log set seq = 9 where position = 2');
  }
  store.tabular.killProcess();
  await expect.poll(() => store.count().catch(() => 'lost')).toBe('lost');
  const admin = await adminOf(store);
  const lost = {
    what: 'ingest log 2',
    outcome: 'lost',
    damage: expect.stringMatching(/differs? from what was written/),
  };
  expect(await admin.repair({ apply: false, acceptLoss: true })).toMatchObject([
    { ...lost, outcome: 'would be given up', detail: 'queries would be answered without it' },
  ]);
  expect(await admin.repair()).toMatchObject([lost]);
  await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
  expect(await admin.repair({ acceptLoss: true })).toMatchObject([{ ...lost, outcome: 'loss accepted' }]);
  expect(await store.count()).toBe(2);
  expect(await admin.repair()).toEqual([]);
  expect(await admin.call('audit')).toMatchObject([{ action: 'admin.repair.accept-loss', actorName: 'root' }]);
});

test('D33 a file merged from small ones since the backup is restored from those, row for row', async () => {
  await inFolder(async (folder) => {
    await using directory = await temporaryDirectory();
    const parquet = join(folder, 'parquet');
    const files = async () => (await readdir(parquet)).filter((name) => name.endsWith('.parquet')).toSorted();
    const from = directory.file('backup');
    const before = await (async () => {
      await using store = await openTabular({}, { folder });
      for (let i = 0; i < 3; i++) {
        store.append({
          readings: [{ data: { i }, receivedMs: noonMs + i }, { data: { i, more: 'x' } }],
          syncedMs: noonMs,
        });
        await store.tabular.seal();
      }
      const place = { ...testPlace, organizationId: 'org-2' };
      store.append({ place, readings: [{ data: {}, receivedMs: noonMs }], syncedMs: noonMs });
      await store.tabular.seal();
      const names = await files();
      await backUp(store, from, names);
      const of = await store.db
        .selectFrom('tabular_files')
        .select('file')
        .where('organization_id', '=', 'org-1')
        .executeTakeFirstOrThrow();
      await backUp(
        store,
        directory.file('less'),
        names.filter((name) => name !== of.file),
      );
      return names;
    })();
    await using store = await openTabular({ mergeFiles: 3 }, { folder });
    store.append({ readings: [{ data: { i: 9 }, receivedMs: noonMs + dayMs }], syncedMs: noonMs + dayMs });
    await store.tabular.seal();
    const sorted = [{ $sort: { 'data.i': 1, 'data.more': 1 } }] as const;
    await expect.poll(async () => (await files()).filter((name) => before.includes(name)).length).toBeLessThan(2);
    const right = await store.mql(sorted);
    forgetRows(store, 'position > 0');
    const [damaged = ''] = (await files()).filter((name) => name.startsWith('2026-05-17') && !before.includes(name));
    await truncate(join(parquet, damaged), 100);
    const admin = await adminOf(store);
    expect(await admin.repair({ from: directory.file('less') })).toMatchObject([{ outcome: 'lost' }]);
    expect(await admin.repair({ from, apply: false })).toMatchObject([{ outcome: 'can be restored' }]);
    await expect(store.mql(sorted)).rejects.toMatchObject({ code: 'data_loss' });
    expect(await admin.repair({ from })).toMatchObject([{ outcome: 'restored', rows: 6 }]);
    expect(await store.mql(sorted)).toEqual(right);
    expect(right).toHaveLength(7);
    expect(await admin.repair({ from })).toEqual([]);
    expect(await readdir(join(parquet, 'quarantine'))).toEqual([damaged]);
  });
});

test('D33 a row of the catalog whose second copy is damaged, too, is not mended, and the report says what to do', async () => {
  const ask = async () => ({ mended: ['file a'], left: [{ text: 'file b' }] });
  expect(await mendCatalog({ ask, apply: true })).toMatchObject([
    { damage: 'file a', outcome: 'restored' },
    { damage: 'file b', outcome: 'not mended', detail: expect.stringContaining('restore a backup') },
  ]);
});
