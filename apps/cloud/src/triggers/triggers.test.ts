import { randomBytes } from 'node:crypto';
import { silentLog, systemClock } from '@platform/base';
import fc from 'fast-check';
import type { Kysely } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openIngestLog } from '../ingest/log/open-ingest-log.ts';
import { openTestLog } from '../ingest/testing/open-log.ts';
import { testEntry } from '../ingest/testing/test-entry.ts';
import type { ConfiguredResource } from '../machines/configuration/triggers-of.ts';
import { migrations } from '../metadata/migrations.ts';
import { openMetadata } from '../metadata/open-metadata.ts';
import { openTestStore } from '../metadata/testing/test-store.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { enqueue } from '../outbox/enqueue.ts';
import type { Message } from '../outbox/event.ts';
import type { OutboxTransaction } from '../outbox/store.ts';
import { noSecrets } from '../outbox/testing/open-outbox.ts';
import type { DecidedTables } from './decide-rows.ts';
import { createTriggers, type Triggers } from './feature.ts';
import { logged } from './testing/logged.ts';
import { MemoryLog } from './testing/memory-log.ts';

type Tables = DecidedTables;

const trigger = (name: string, seconds = 0, overrides: object = {}) => ({
  name,
  event: { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
  notifications: [{ type: 'webhook', value: `https://example.com/${name}`, seconds_between_notifications: seconds }],
  ...overrides,
});

async function openDb(): Promise<Kysely<Tables>> {
  const store = await openTestStore(undefined, migrations);
  const { directory, database } = store;
  const metadata = await openMetadata<Tables>({
    clock: systemClock,
    onFatal: throwUncaught,
    file: directory.file('meta.sqlite'),
    database,
    migrations,
    log: silentLog,
  });
  onTestFinished(async () => {
    await metadata[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  return metadata.db;
}

const outbox = {
  enqueue: (trx: OutboxTransaction, messages: readonly Message[]) =>
    enqueue(trx, messages, systemClock.now(), noSecrets),
  wake: () => {},
};

interface Rig {
  readonly db: Kysely<Tables>;
  readonly log: MemoryLog;
  /** Saves the triggers of a part, as a user does. */
  save(triggers: readonly unknown[], partId?: string): Promise<void>;
  readonly triggers: Triggers;
  /** `<trigger> <file id>` of every enqueued message, in order. */
  enqueued(): Promise<string[]>;
}

async function rig(): Promise<Rig> {
  const db = await openDb();
  const log = new MemoryLog();
  const saved = new Map<
    string,
    { triggers: readonly unknown[]; components: readonly ConfiguredResource[]; revision: string }
  >();
  let revision = 0;
  const configOf = async (partId: string) => saved.get(partId);
  const triggers = createTriggers({ db, ingestLog: log, configOf, outbox, clock: systemClock, log: silentLog });
  onTestFinished(() => triggers[Symbol.asyncDispose]());
  return {
    db,
    log,
    triggers,
    async save(list, partId = 'part') {
      await db
        .transaction()
        .execute((trx) => triggers.configurationsChanged(trx, [{ partId, after: { triggers: list } }]));
      saved.set(partId, {
        triggers: list,
        components: [{ name: 'cpu', api: undefined }],
        revision: String(++revision),
      });
    },
    enqueued: () => enqueuedIn(db),
  };
}

async function enqueuedIn(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('outbox_messages').select(['trigger_name', 'event']).execute();
  return rows.map((row) => `${row.trigger_name} ${JSON.parse(row.event).data.fileId}`).sort();
}

/** `<trigger> <times>, <notifications>` for each `fired` row of the history. */
async function historyIn(db: Kysely<Tables>, partId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('trigger_history')
    .select(({ fn }) => [
      'trigger_name',
      fn.sum<number | string>('count').as('fired'),
      fn.sum<number | string>('sent').as('sent'),
    ])
    .where('part_id', '=', partId)
    .where('outcome', '=', 'fired')
    .groupBy('trigger_name')
    .execute();
  return rows.map((row) => `${row.trigger_name} ${row.fired}, ${row.sent}`).sort();
}

async function caughtUp({ triggers, log }: Rig): Promise<void> {
  while ((await triggers.cursor()) < log.lastPosition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('an upload of a part with a trigger is enqueued, and one of a part without is skipped', async () => {
  const on = await rig();
  await on.save([trigger('a')]);
  await on.triggers.start();
  on.log.append(logged({ fileId: 'mine' }));
  on.log.append(logged({ fileId: 'other', partId: 'other' }), 'other');
  on.log.append(logged({ fileId: 'unknown' }), 'no such part');
  await caughtUp(on);
  expect(await on.enqueued()).toEqual(['a mine']);
  // The cursor can be read slightly before the follower knows that its transaction has committed.
  await expect.poll(() => on.triggers.lag()).toEqual({ rows: 0, failures: 0 });
});

test('a disabled or invalid trigger does not stop the others', async () => {
  const on = await rig();
  await on.save([trigger('off', 0, { disabled: true }), { name: 'broken' }, trigger('a')]);
  await on.triggers.start();
  on.log.append(logged({ fileId: 'f' }));
  await caughtUp(on);
  expect(await on.enqueued()).toEqual(['a f']);
});

test('I11 a trigger that is new or enabled again starts at the end of the log, even if the follower was behind', async () => {
  const on = await rig();
  on.log.append(logged({ fileId: '1' }));
  await on.save([trigger('a')]);
  on.log.append(logged({ fileId: '2' }));
  await on.save([trigger('a', 0, { disabled: true })]);
  on.log.append(logged({ fileId: '3' }));
  await on.save([trigger('a'), trigger('b')]);
  on.log.append(logged({ fileId: '4' }));
  await on.save([trigger('a'), trigger('b'), trigger('c')]);
  on.log.append(logged({ fileId: '5' }));
  await on.triggers.start();
  await caughtUp(on);
  expect(await on.enqueued()).toEqual(['a 4', 'a 5', 'b 4', 'b 5', 'c 5']);
});

test('throttling uses the time of the uploads, separately for each notification', async () => {
  const on = await rig();
  await on.save([trigger('a', 10), trigger('b')]);
  for (const seconds of [0, 9.999, 10, 15, 20.5, 30]) {
    on.log.append(logged({ fileId: `at-${seconds}`, syncedAtMs: 1_000_000 + seconds * 1_000 }));
  }
  await on.triggers.start();
  await caughtUp(on);
  const ofA = (await on.enqueued()).filter((one) => one.startsWith('a'));
  expect(ofA).toEqual(['a at-0', 'a at-10', 'a at-20.5']);
  expect((await on.enqueued()).length - ofA.length).toBe(6);
});

test('I8 an unreadable row is marked as damaged and skipped', async () => {
  const on = await rig();
  await on.save([trigger('a')]);
  on.log.append(Uint8Array.of(0xff, 0xff, 0xff));
  on.log.append(new Uint8Array());
  on.log.append(logged({ fileId: 'good' }));
  await on.triggers.start();
  await caughtUp(on);
  expect(await on.enqueued()).toEqual(['a good']);
  expect(on.log.damaged).toEqual([1, 2]);
});

test('D18 an upload also enqueues notifications by e-mail and push; triggers of later versions enqueue nothing', async () => {
  const on = await rig();
  await on.save([
    trigger('mail', 0, { notifications: [{ type: 'email', value: 'ada@example.com' }] }),
    trigger('push', 0, { notifications: [{ type: 'push', value: 'ada@example.com', application: 'app' }] }),
    trigger('status', 0, { event: { type: 'part_online' } }),
    trigger('logs', 0, { event: { type: 'conditional_logs_ingested', log_levels: ['error'] } }),
  ]);
  on.log.append(logged());
  await on.triggers.start();
  await caughtUp(on);
  expect(await on.enqueued()).toEqual(['mail file', 'push file']);
});

test('a log of many rows is processed in steps', async () => {
  const on = await rig();
  await on.save([trigger('a')]);
  for (let n = 0; n < 1_000; n++) on.log.append(logged({ fileId: `f${String(n).padStart(4, '0')}` }));
  await on.triggers.start();
  await caughtUp(on);
  expect(await on.enqueued()).toEqual(Array.from({ length: 1_000 }, (_, n) => `a f${String(n).padStart(4, '0')}`));
});

class Killed extends Error {}

/** Throws at the `at`-th call, and never again. */
function killer(at: number): (point: string) => void {
  let points = 0;
  return () => {
    if (++points === at) throw new Killed();
  };
}

test('I11 a kill at any step leaves each upload enqueued exactly once per notification, and counted once in the history', async () => {
  const db = await openDb();
  let run = 0;
  const gaps = fc.array(fc.integer({ min: 0, max: 8_000 }), { minLength: 1, maxLength: 12 });
  const kills = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(gaps, kills, fc.integer({ min: 1, max: 5 }), async (gapsMs, killPoints, readRows) => {
      // Each run has a separate part, log and cursor.
      const partId = `part-${++run}`;
      await db.deleteFrom('log_cursors').execute();
      const list = [trigger('every'), trigger('slow', 10)];
      const configOf = async () => ({ triggers: list, components: [], revision: '1' });
      const log = new MemoryLog();
      const expected: string[] = [];
      let atMs = 1_000_000;
      let lastSlowMs = Number.NEGATIVE_INFINITY;
      for (const [index, gapMs] of gapsMs.entries()) {
        atMs += gapMs;
        const fileId = `${run}-${index}`;
        log.append(logged({ partId, fileId, syncedAtMs: atMs }), partId);
        expected.push(`every ${fileId}`);
        if (atMs - lastSlowMs < 10_000) continue;
        lastSlowMs = atMs;
        expected.push(`slow ${fileId}`);
      }
      for (let attempt = 0; ; attempt++) {
        const point = killer(killPoints[attempt] ?? 0);
        const { steps } = createTriggers({
          db,
          log: silentLog,
          clock: systemClock,
          ingestLog: {
            lastPosition: () => log.lastPosition(),
            onCommit: (listener) => log.onCommit(listener),
            async follow(after) {
              point('before reading');
              return log.follow(after, { rows: readRows, bytes: 1 });
            },
            recordLoss: () => log.recordLoss(),
            markDamaged: (position) => log.markDamaged(position),
          },
          async configOf() {
            point('before deciding');
            return configOf();
          },
          outbox: {
            async enqueue(trx, messages) {
              point('in the transaction, before the messages');
              await enqueue(trx, messages, 0, noSecrets);
              point('in the transaction, after the messages');
            },
            wake: () => point('after the commit'),
          },
        });
        try {
          await steps.open();
          while (await steps.next());
          await steps.flush();
          break;
        } catch (caught) {
          if (!(caught instanceof Killed)) throw caught;
        }
      }
      const rows = await db
        .selectFrom('outbox_messages')
        .select(['trigger_name', 'event'])
        .where('part_id', '=', partId)
        .execute();
      const found = rows.map((row) => `${row.trigger_name} ${JSON.parse(row.event).data.fileId}`);
      expect(found.sort()).toEqual(expected.sort());
      const sent = (name: string): number => expected.filter((one) => one.startsWith(`${name} `)).length;
      const counted = ['every', 'slow'].map((name) => `${name} ${gapsMs.length}, ${sent(name)}`);
      expect(await historyIn(db, partId)).toEqual(counted);
      expect(await db.selectFrom('log_cursors').select('position').execute()).toEqual([{ position: gapsMs.length }]);
    }),
    { numRuns: 60 },
  );
});

test('I11 a second process on the same cursor does not enqueue anything twice', async () => {
  const db = await openDb();
  const log = new MemoryLog();
  const options = {
    db,
    ingestLog: log,
    configOf: async () => ({ triggers: [trigger('a')], components: [], revision: '1' }),
    outbox,
    clock: systemClock,
    log: silentLog,
  };
  const [first, second] = [createTriggers(options).steps, createTriggers(options).steps];
  await first.open();
  await second.open();
  log.append(logged({ fileId: 'f' }));
  await first.next();
  await expect(second.next()).rejects.toThrow('cursor of triggers');
  expect(await enqueuedIn(db)).toEqual(['a f']);
});

test('D33 an upload lost from the log does not fire and is recorded, and the others fire', async () => {
  await using on = await openTestLog();
  const db = await openDb();
  for (const [index, fileId] of ['a', 'b', 'c', 'd'].entries())
    await on.log.append(testEntry(index + 1, fileId, { partId: 'part', batch: logged({ fileId }) }));
  await on.damage('update log set seq = 9 where position = 2');
  await on.damage('delete from log where position = 3');
  const { steps } = createTriggers({
    db,
    ingestLog: on.log,
    configOf: async () => ({ triggers: [trigger('t')], components: [], revision: '1' }),
    outbox,
    clock: systemClock,
    log: silentLog,
  });
  await steps.open();
  while (await steps.next());
  expect(await enqueuedIn(db)).toEqual(['t a', 't d']);
  expect(on.log.losses()).toMatchObject([
    { lossIn: 'triggers', first: 2, last: 2, parts: null },
    { lossIn: 'triggers', first: 3, last: 3, parts: ['part'] },
  ]);
});

test('I11 across restarts of the real log and database each acknowledged upload is enqueued exactly once', async () => {
  await using store = await openTestStore(undefined, migrations);
  const { directory, database } = store;
  const stream = randomBytes(16);
  const expected: string[] = [];
  let found: string[] = [];
  for (let start = 0; start < 3; start++) {
    await using metadata = await openMetadata<Tables>({
      clock: systemClock,
      onFatal: throwUncaught,
      file: directory.file('meta.sqlite'),
      database,
      migrations,
      log: silentLog,
    });
    await using ingestLog = await openIngestLog({
      onFatal: throwUncaught,
      file: directory.file('ingest.sqlite'),
      log: silentLog,
      clock: systemClock,
    });
    const configOf = async () => ({ triggers: [trigger('a')], components: [], revision: '1' });
    await using triggers = createTriggers({
      db: metadata.db,
      ingestLog,
      configOf,
      outbox,
      clock: systemClock,
      log: silentLog,
    });
    await triggers.start();
    for (let n = 1; n <= 10; n++) {
      const seq = start * 10 + n;
      const fileId = `f${String(seq).padStart(2, '0')}`;
      const entry = {
        partId: 'part',
        stream,
        seq,
        lowWaterMark: 0,
        sha256: randomBytes(32),
        batch: logged({ fileId }),
        fileId,
      };
      await ingestLog.append(entry);
      expected.push(`a ${fileId}`);
    }
    // The first two starts end with undecided uploads.
    if (start === 2) {
      while ((await triggers.cursor()) < ingestLog.lastPosition())
        await new Promise((resolve) => setTimeout(resolve, 2));
      found = await enqueuedIn(metadata.db);
    }
  }
  expect(found).toEqual(expected);
});
