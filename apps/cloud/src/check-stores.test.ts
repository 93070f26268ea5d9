import { createLog, silentLog, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { checkStores } from './check-stores.ts';
import { openTestLog } from './ingest/testing/open-log.ts';
import { testEntry } from './ingest/testing/test-entry.ts';
import { migrations } from './metadata/migrations.ts';
import { openMetadata } from './metadata/open-metadata.ts';
import type { CloudTables } from './metadata/tables.ts';
import { openTestStore } from './metadata/testing/test-store.ts';
import { throwUncaught } from './metadata/testing/throw-uncaught.ts';
import { stateRowChecksum } from './tabular/integrity/row-checksum.ts';

test('I3 D33 a log that ends before a position seen by the catalog or a follower continues after that position and reports the loss', async () => {
  await using store = await openTestStore(undefined, migrations);
  await using metadata = await openMetadata<CloudTables>({
    clock: systemClock,
    onFatal: throwUncaught,
    file: store.directory.file('meta.sqlite'),
    database: store.database,
    migrations,
    log: silentLog,
  });
  const { db } = metadata;
  await using on = await openTestLog();
  for (const seq of [1, 2, 3]) await on.log.append(testEntry(seq));
  const told: string[] = [];
  const log = createLog(
    (level, _logger, message, fields) => void told.push(`${level} ${message} ${JSON.stringify(fields)}`),
  );
  const check = () => checkStores(db, on.log, log);
  const losses = () => on.log.losses().map(({ lossIn, first, last }) => [lossIn, first, last]);

  await check();
  await db
    .updateTable('tabular_state')
    .set({ sealed_position: 3, row_check: stateRowChecksum(3) })
    .execute();
  await check();
  expect([told, losses(), on.log.lastPosition()]).toEqual([[], [], 3]);

  await db
    .updateTable('tabular_state')
    .set({ sealed_position: 5, row_check: stateRowChecksum(5) })
    .execute();
  await db.insertInto('log_cursors').values({ name: 'triggers', position: 4 }).execute();
  await check();
  expect(told).toEqual([
    expect.stringMatching(/^error .*lost its end.*"lastPosition":3,"proven":5,"by":"the sealed position"/),
  ]);
  expect(losses()).toEqual([['log', 4, 5]]);
  await on.reopen();
  await check();
  expect([told.length, losses(), on.log.lastPosition()]).toEqual([1, [['log', 4, 5]], 5]);

  // A sealed position that is itself damaged proves nothing.
  await db.updateTable('tabular_state').set({ sealed_position: 50 }).execute();
  await check();
  expect([told.length, on.log.lastPosition()]).toEqual([1, 5]);

  // A follower is told only about lost positions that it has not passed yet.
  const follow = async (after: number) =>
    (await on.log.follow(after, { rows: 10, bytes: 1e6 })).map(({ damage }) => [damage?.first, damage?.last]);
  expect([await follow(4), await follow(5)]).toEqual([[[5, 5]], []]);
  expect((await on.log.append(testEntry(4))).position).toBe(6);
  await db.updateTable('log_cursors').set({ position: 9 }).execute();
  await check();
  expect([losses(), on.log.lastPosition()]).toEqual([
    [
      ['log', 4, 5],
      ['log', 7, 9],
    ],
    9,
  ]);
});
