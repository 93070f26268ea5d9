import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular } from './testing/open-tabular.ts';

const uploadRows = 50;

/** Appends uploads with consecutive readings, pausing after each, until stopped. `appended` counts the acknowledged ones. */
function appendUploads(store: OpenTabular, pauseMs: number): { readonly appended: number; stop(): Promise<void> } {
  let appended = 0;
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const first = appended;
      const componentName = `c${Math.floor(first / uploadRows) % 4}`;
      store.append({
        metadata: { componentName },
        readings: Array.from({ length: uploadRows }, (_, i) => ({ data: { i: first + i } })),
      });
      appended += uploadRows;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const finished = run();
  return {
    get appended() {
      return appended;
    },
    async stop() {
      stopped = true;
      await finished;
    },
  };
}

interface Summary {
  readonly rows: number;
  readonly distinct: number;
  readonly most: number;
}

/** Counts rows and distinct values of i, and finds the largest i. */
async function summary(store: OpenTabular): Promise<Summary> {
  const [row] = await store.mql([
    { $group: { _id: '$data.i', rows: { $sum: 1 } } },
    { $group: { _id: null, rows: { $sum: '$rows' }, distinct: { $sum: 1 }, most: { $max: '$_id' } } },
  ]);
  return {
    rows: Number(row?.['rows'] ?? 0),
    distinct: Number(row?.['distinct'] ?? 0),
    most: Number(row?.['most'] ?? -1),
  };
}

/** Expects a prefix of the appended rows: whole uploads, at least `atLeast` rows, each row once. */
function expectPrefix({ rows, distinct, most }: Summary, atLeast: number): void {
  expect(distinct).toBe(rows);
  expect(most).toBe(rows - 1);
  expect(rows % uploadRows).toBe(0);
  expect(rows).toBeGreaterThanOrEqual(atLeast);
}

test('I7 I9 queries during seals and merges see every row acknowledged before them exactly once', async () => {
  await using store = await openTabular({ sealRows: 500, mergeFiles: 4, concurrentQueries: 3 });
  const writer = appendUploads(store, 60);
  const reader = async (): Promise<void> => {
    let queries = 0;
    // Continue until seals and queries overlap: two seals of ten uploads, and the third.
    while (queries < 20 || store.tabular.sealedPosition() <= 20) {
      const before = writer.appended;
      expectPrefix(await summary(store), before);
      queries++;
    }
  };
  await Promise.all([reader(), reader(), reader()]);
  await writer.stop();
  await store.tabular.seal();
  expectPrefix(await summary(store), writer.appended);
  await expect.poll(async () => (await store.tabular.status()).hotRows).toBe(0);
});

test('I8 I9 I14 a child killed repeatedly while it loads, seals and merges rows loses none and duplicates none', async () => {
  await using store = await openTabular({ sealRows: 300, mergeFiles: 3 });
  const writer = appendUploads(store, 20);
  for (let kills = 0; kills < 8; kills++) {
    // A killed child is considered running until its exit is noticed.
    await expect.poll(async () => (await store.tabular.status()).restarts).toBe(kills);
    await expect.poll(async () => (await store.tabular.status()).processId).toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
    store.tabular.killProcess();
    if (kills % 3 === 0) {
      const before = writer.appended;
      expectPrefix(await summary(store), before);
    }
  }
  await writer.stop();
  expectPrefix(await summary(store), writer.appended);
  const sealed = await store.tabular.seal();
  expect(sealed).toBe(writer.appended / uploadRows);
  expectPrefix(await summary(store), writer.appended);
  const listed = () => store.db.selectFrom('tabular_files').select(['file', 'rows']).execute();
  expect((await listed()).reduce((sum, { rows }) => sum + rows, 0)).toBe(writer.appended);
  // A merge still in progress may unlist and delete files between the two reads.
  const lost = async (): Promise<unknown[]> => {
    const files = await listed();
    const names = await readdir(join(store.dataDir, 'parquet'));
    return files.filter(({ file }) => !names.includes(file));
  };
  await expect.poll(lost).toEqual([]);
  expect((await store.tabular.status()).restarts).toBe(8);
});

test('I14 a query whose child dies is answered by the next child', async () => {
  await using store = await openTabular();
  store.append({ readings: Array.from({ length: 3_000 }, (_, i) => ({ data: { i } })) });
  await store.count();
  // The stopped child receives the queries but answers none.
  process.kill((await store.tabular.status()).processId ?? 0, 'SIGSTOP');
  const counts = Array.from({ length: 4 }, () => store.count());
  await expect.poll(async () => (await store.tabular.status()).runningQueries).toBeGreaterThan(0);
  store.tabular.killProcess();
  expect(await Promise.all(counts)).toEqual([3_000, 3_000, 3_000, 3_000]);
});
