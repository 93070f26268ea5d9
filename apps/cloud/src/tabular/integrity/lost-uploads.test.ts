import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace } from '../testing/open-tabular.ts';
import { stateRowChecksum } from './row-checksum.ts';

const others = { organizationId: 'org-2', locationId: 'loc-2', robotId: 'robot-2', partId: 'part-2' };
const ofOthers = { scope: { organizationId: 'org-2', locationIds: null, robotIds: null } };

async function damageLog(store: OpenTabular, statement: string): Promise<void> {
  using db = new DatabaseSync(join(store.dataDir, 'ingest.sqlite'), { timeout: 60_000 });
  db.exec(statement);
  // The next child reads the log again.
  store.tabular.killProcess();
  while ((await store.tabular.status()).restarts === 0) await systemClock.sleep(20);
}

/** Three uploads of one organization and one of another; the second upload is damaged before a child reads it again. */
async function openDamaged(statement: string): Promise<OpenTabular> {
  const store = await openTabular(
    {},
    { organizationOf: (partId) => ({ 'part-1': 'org-1', 'part-2': 'org-2' })[partId] },
  );
  for (const i of [1, 2, 3]) store.append({ readings: [{ data: { i } }] });
  store.append({ readings: [{ data: { i: 4 } }], place: others }, 'part-2');
  expect(await store.count()).toBe(3);
  await damageLog(store, statement);
  return store;
}

const count = [{ $count: 'n' }];
const whole = { code: 'data_loss', message: expect.stringMatching(/ingest log at position 2/) };

test('D33 a damaged log row causes DATA_LOSS for the queries that could need it, hot and sealed, and for no others', async () => {
  await using store = await openDamaged("update log set batch = cast('x' as blob) where position = 2");
  for (const seals of [false, true]) {
    if (seals) await store.tabular.seal();
    await expect(store.mql(count)).rejects.toMatchObject(whole);
    await expect(store.mql([{ $match: { part_id: testPlace.partId } }])).rejects.toMatchObject(whole);
    expect(await store.mql([{ $match: { part_id: 'another part' } }])).toEqual([]);
    expect(await store.mql(count, ofOthers)).toEqual([{ n: 1 }]);
  }
  await store.ingestLog.acceptLosses();
  expect(await store.mql([{ $project: { i: '$data.i' } }, { $sort: { i: 1 } }])).toMatchObject([{ i: 1 }, { i: 3 }]);
});

test('D33 a log row whose owner is unknown affects every query', async () => {
  await using store = await openDamaged("update log set part = 'part-2' where position = 2");
  await expect(store.mql(count)).rejects.toMatchObject(whole);
  await expect(store.mql(count, ofOthers)).rejects.toMatchObject(whole);
  await expect(store.mql([{ $match: { part_id: 'another part' } }])).rejects.toMatchObject(whole);
});

test('D33 a row missing from the log is reported, regardless of its position', async () => {
  for (const [position, left] of [
    [2, 2],
    [1, 2],
  ] as const) {
    await using store = await openDamaged(`delete from log where position = ${position}`);
    await expect(store.mql(count)).rejects.toMatchObject({ code: 'data_loss' });
    await store.ingestLog.acceptLosses();
    expect(await store.mql(count)).toEqual([{ n: left }]);
  }
  await using store = await openDamaged('delete from log where position > 2');
  await expect(store.mql(count)).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringMatching(/positions 3 to 4/),
  });
  expect(await store.tabular.seal()).toBe(4);
});

test('D33 a catalog that lost listed files causes DATA_LOSS, and the unlisted files are kept until the loss is accepted', async () => {
  await using store = await openTabular();
  for (const i of [1, 2, 3]) store.append({ readings: [{ data: { i } }] });
  await store.tabular.seal();
  store.append({ readings: [{ data: { i: 4 } }] });
  const files = () => readdirSync(join(store.dataDir, 'parquet')).filter((name) => name.endsWith('.parquet'));
  const sealed = files();
  await store.db.deleteFrom('tabular_files').execute();
  await store.db.deleteFrom('tabular_proofs').execute();
  await store.db.deleteFrom('tabular_day_proofs').execute();
  await store.db
    .updateTable('tabular_state')
    .set({ sealed_position: 1, row_check: stateRowChecksum(1) })
    .execute();
  await damageLog(store, 'delete from log where position <= 3');
  await expect(store.mql(count)).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringMatching(/positions 2 to 3/),
  });
  expect(files()).toEqual(sealed);
  await store.ingestLog.acceptLosses();
  expect(await store.mql(count)).toEqual([{ n: 1 }]);
  writeFileSync(join(store.dataDir, 'parquet', 'left.parquet'), 'x');
  store.tabular.killProcess();
  while (files().length > 0) await systemClock.sleep(20);
});
