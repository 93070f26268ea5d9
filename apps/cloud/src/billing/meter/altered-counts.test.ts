import { silentLog, systemClock } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { countSentLogs, sentLogs } from '../../machines/logs/usage.ts';
import { migrations } from '../../metadata/migrations.ts';
import { openMetadata } from '../../metadata/open-metadata.ts';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { alterRows, testRowWatch } from '../../metadata/testing/test-row-watch.ts';
import { openTestStore, storeKinds } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { countSent, sentNotifications } from '../../outbox/count-sent.ts';
import { createScanMeter, monthOf, scannedBytes } from '../../tabular/query/scan-meter.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2027, 2, 1);
const endMs = Date.UTC(2027, 3, 1);
const organizationId = 'acme';

interface Counts {
  /** Counts something at this time, for the first time or in addition. */
  count(db: Database, ms: number): Promise<void>;
  /** What is owed, or left, for March. */
  read(db: Database): Promise<unknown>;
  readonly right: unknown;
  /** The column that something else changes. */
  readonly column: string;
}

let messages = 0;

const kinds: Readonly<Record<string, Counts>> = {
  machine_log_usage: {
    count: (db, receivedMs) =>
      db.transaction().execute((trx) =>
        // Of two machines, in one transaction.
        countSentLogs(trx, [
          { organizationId, bytes: 3, receivedMs },
          { organizationId, bytes: 4, receivedMs: receivedMs + 1 },
        ]),
      ),
    read: (db) => sentLogs(db, startMs, endMs, organizationId),
    right: [
      { hour: startMs, quantity: 14 },
      { hour: startMs + hourMs, quantity: 7 },
    ],
    column: 'bytes',
  },
  notification_usage: {
    async count(db, ms) {
      const ids = ['webhook', 'push'].map((channel) => ({ id: `m${messages++}`, channel }));
      for (const { id, channel } of ids)
        await db
          .insertInto('outbox_messages')
          .values({
            ...{ id, channel: channel as 'push', organization_id: organizationId, part_id: '', target: 't' },
            ...{ trigger_name: 'hot', event_type: 'e', event: '', event_at: ms, state: 'pending' },
            ...{
              attempts: 0,
              next_attempt_at: ms,
              created_at: ms,
              retried_attempts: 0,
              held: 0,
              urgency: 'data',
              envelope_check: '',
            },
          })
          .execute();
      await db.transaction().execute((trx) =>
        countSent(
          trx,
          ids.map(({ id }) => id),
          ms,
        ),
      );
    },
    read: (db) => sentNotifications(db, startMs, endMs, organizationId),
    right: [
      { hour: startMs, quantity: 4 },
      { hour: startMs + hourMs, quantity: 2 },
    ],
    column: 'sent',
  },
  tabular_usage: {
    async count(db, ms) {
      const clock = new FakeClock(ms);
      const meter = createScanMeter({ db, clock, log: silentLog, monthlyBytesOf: () => 1_000 });
      (await meter.reserve(organizationId, 9)).settle(7);
      await meter.settled();
    },
    read: (db) => scannedBytes(db, organizationId, monthOf(startMs)),
    right: 21,
    column: 'scanned_bytes',
  },
};

const damages: Readonly<Record<string, (table: string, column: string) => string>> = {
  altered: (table, column) => `update ${table} set ${column} = 100`,
  deleted: (table) => `delete from ${table}`,
  'moved to another organization': (table) => `update ${table} set organization_id = 'other'`,
  'emptied of its checksum': (table) => `update ${table} set row_check = null`,
};

const cases = storeKinds.flatMap((store) =>
  Object.keys(kinds).flatMap((table) => Object.keys(damages).map((damage) => [store, table, damage] as const)),
);

test.each(cases)('D33 in %s, a row of %s that was %s is DATA_LOSS for what is owed', async (kind, table, damage) => {
  const { count, read, right, column } = kinds[table] as Counts;
  await using store = await openTestStore(kind, migrations);
  const file = store.directory.file('meta.sqlite');
  await using metadata = await openMetadata<CloudTables>({
    ...{ clock: systemClock, onFatal: throwUncaught, database: store.database, migrations, log: silentLog, file },
  });
  const { db } = metadata;
  await using rows = testRowWatch(db, { file, database: store.database });
  for (const ms of [startMs, startMs, startMs + hourMs]) await count(db, ms);
  // Of another month.
  await count(db, endMs);
  expect(await read(db)).toEqual(right);
  expect(await rows.look()).toEqual([]);

  await alterRows(store, damages[damage]?.(table, column) ?? '');
  await expect(read(db)).rejects.toMatchObject({ code: 'data_loss', message: expect.stringContaining(table) });
  // What is counted afterwards does not hide it.
  if (table !== 'tabular_usage') await count(db, startMs);
  await expect(read(db)).rejects.toMatchObject({ code: 'data_loss' });
  expect((await rows.look()).join('; ')).toContain(table);
  await rows.accept();
  await read(db);
  expect(await rows.look()).toEqual([]);
});
