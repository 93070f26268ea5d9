import { silentLog, systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { openTestLog } from '../ingest/testing/open-log.ts';
import { testEntry } from '../ingest/testing/test-entry.ts';
import { migrations } from '../metadata/migrations.ts';
import { openMetadata } from '../metadata/open-metadata.ts';
import type { Database } from '../metadata/tables.ts';
import { openTestStore, type TestStore } from '../metadata/testing/test-store.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { followLog, type LogFollower } from './follow-log.ts';

interface Rig {
  readonly db: Database;
  readonly log: Awaited<ReturnType<typeof openTestLog>>['log'];
  /** Positions of the rows passed to each step. */
  readonly steps: number[][];
  follow(more?: Partial<Parameters<typeof followLog>[0]>): LogFollower;
}

async function openStore(): Promise<TestStore> {
  const store = await openTestStore();
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

async function openDb({ directory, database }: TestStore): Promise<Database> {
  const file = directory.file('meta.sqlite');
  const metadata = await openMetadata({
    clock: systemClock,
    onFatal: throwUncaught,
    file,
    database,
    migrations,
    log: silentLog,
  });
  onTestFinished(() => metadata[Symbol.asyncDispose]());
  return metadata.db as Database;
}

async function rig(): Promise<Rig> {
  const db = await openDb(await openStore());
  const { log, ...opened } = await openTestLog();
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const steps: number[][] = [];
  return {
    db,
    log,
    steps,
    follow: (more = {}) =>
      followLog({
        name: 'triggers',
        db,
        ingestLog: log,
        beginAfter: async () => 0,
        async process(rows) {
          steps.push(rows.map(({ position }) => position));
          return {};
        },
        clock: systemClock,
        log: silentLog,
        ...more,
      }),
  };
}

test('I11 the effects of rows and the cursor are written together or not at all', async () => {
  const on = await rig();
  for (const seq of [1, 2, 3]) await on.log.append(testEntry(seq));
  let fails = true;
  const { steps, cursor, position } = on.follow({
    process: async (rows) => ({
      write: async (trx) => {
        await trx
          .insertInto('log_cursors')
          .values({ name: `effect of ${rows.length}`, position: 0 })
          .execute();
        if (fails) throw new Error('the disk is full');
      },
    }),
  });
  const effects = () => on.db.selectFrom('log_cursors').select('name').where('name', 'like', 'effect%').execute();
  await steps.open();
  await expect(steps.next()).rejects.toThrow('the disk is full');
  expect(await effects()).toEqual([]);
  expect([await cursor(), position()]).toEqual([0, 0]);
  fails = false;
  expect(await steps.next()).toBe(true);
  expect(await effects()).toEqual([{ name: 'effect of 3' }]);
  expect([await cursor(), position()]).toEqual([3, 3]);
});

test('rows left over by a step that stops early are passed to the next step', async () => {
  const on = await rig();
  for (const seq of [1, 2, 3]) await on.log.append(testEntry(seq));
  const { steps } = on.follow({
    async process(rows) {
      on.steps.push(rows.map(({ position }) => position));
      return { upTo: rows[0]?.position ?? 0 };
    },
  });
  await steps.open();
  while (await steps.next());
  expect(on.steps).toEqual([[1, 2, 3], [2, 3], [3]]);
});

test('I11 gathered effects are written together with the cursor, once, whatever fails in between', async () => {
  const { db, log, follow } = await rig();
  let gatheredRows: number[] = [];
  const writtenRows: number[] = [];
  let refusals = 0;
  const follower = async (everyMs: number): Promise<LogFollower> => {
    const opened = follow({
      process: async (rows) => ({ gather: () => void gatheredRows.push(...rows.map(({ position }) => position)) }),
      gathered: {
        everyMs,
        begin() {
          gatheredRows = [];
        },
        async write() {
          if (refusals-- > 0) throw new Error('disk full');
          writtenRows.push(...gatheredRows);
        },
      },
    });
    await opened.steps.open();
    return opened;
  };
  const cursor = async (): Promise<number> =>
    (await db.selectFrom('log_cursors').select('position').where('name', '=', 'triggers').executeTakeFirstOrThrow())
      .position;
  const rare = await follower(3_600_000);
  await log.append(testEntry(1));
  await rare.steps.next();
  await rare.steps.flush();
  expect([writtenRows, await cursor()]).toEqual([[1], 1]);
  await log.append(testEntry(2));
  await log.append(testEntry(3));
  await rare.steps.next();
  expect([gatheredRows, writtenRows, await cursor()]).toEqual([[2, 3], [1], 1]);
  // After a kill they are gathered again.
  const frequent = await follower(0);
  refusals = 2;
  await expect(frequent.steps.next()).rejects.toThrow('disk full');
  await expect(frequent.steps.next()).rejects.toThrow('disk full');
  expect([gatheredRows, writtenRows, await cursor()]).toEqual([[2, 3], [1], 1]);
  await frequent.steps.next();
  expect([gatheredRows, writtenRows, await cursor()]).toEqual([[], [1, 2, 3], 3]);
});

test('I7 callers who wait for gathered effects do not wait until these are due', async () => {
  const { log, follow } = await rig();
  let written = 0;
  const slow = follow({
    process: async () => ({ gather: () => {} }),
    gathered: {
      everyMs: 3_600_000,
      begin: () => {},
      async write() {
        written++;
      },
    },
  });
  await slow.start();
  onTestFinished(() => slow[Symbol.asyncDispose]());
  for (let seq = 1; seq <= 3; seq++) {
    await log.append(testEntry(seq));
    const before = written;
    expect(await slow.caughtUp(new AbortController().signal)).toBe(seq);
    expect(written).toBe(before + 1);
  }
});

test('I12 a stop writes a cursor that moved without effects, and the next start continues there', async () => {
  const on = await rig();
  const follower = on.follow();
  await follower.start();
  await on.log.append(testEntry(1));
  expect(await follower.caughtUp(new AbortController().signal)).toBe(1);
  await follower[Symbol.asyncDispose]();
  expect(await follower.cursor()).toBe(1);
  await on.log.append(testEntry(2));
  const again = on.follow();
  await again.steps.open();
  while (await again.steps.next());
  expect(on.steps).toEqual([[1], [2]]);
});

test('I3 followers get recent rows from memory, and after a restart from the store', async () => {
  const on = await openTestLog();
  onTestFinished(() => on[Symbol.asyncDispose]());
  const first = testEntry(1);
  await on.log.append(first);
  await on.log.append(testEntry(2));
  const limit = { rows: 10, bytes: 1_000 };
  const inMemory = await on.log.follow(0, limit);
  expect(inMemory[0]?.batch).toBe(first.batch);
  expect(await on.log.follow(2, limit)).toEqual([]);
  await on.reopen();
  const stored = await on.log.follow(0, limit);
  expect(stored[0]?.batch).not.toBe(first.batch);
  const bytesOf = (rows: typeof stored): unknown[] => rows.map((row) => ({ ...row, batch: [...row.batch] }));
  expect(bytesOf(stored)).toEqual(bytesOf(inMemory));
  expect(await on.log.follow(2, limit)).toEqual([]);
});
