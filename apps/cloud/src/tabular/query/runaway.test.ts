/** Queries that would take all time or all memory: each affects only itself. */
import { spawn } from 'node:child_process';
import type { PlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { openTabular } from '../testing/open-tabular.ts';

/** Longer than a poll: a query that needs the child to be killed fails the test, but a slow computer does not. */
const killAfterMs = 90_000;
/** As long as a test may take: a query that ends earlier did not end by its deadline. */
const deadlineMs = 110_000;

/** Hours of work on a single row without any output: nested loops over an array of 30,000 numbers. */
const numbers = Array.from({ length: 30_000 }, (_, n) => n);
const nowhere = { $in: ['none', '$list'] };
const loop = { $filter: { input: '$list', cond: { $in: [{ $filter: { input: '$list', cond: nowhere } }, '$list'] } } };
const runaway = [{ $addFields: { list: numbers } }, { $project: { n: { $size: loop } } }];

test('a runaway query does not delay others, ends when it is cancelled, and the process survives', async () => {
  await using store = await openTabular({ deadlineMs, killAfterMs });
  store.append({ readings: [{ data: { i: 1 } }, { data: { i: 2 } }] });
  await store.count();
  const { processId } = await store.tabular.status();
  const concat = [{ $project: { text: { $concat: ['x', { $toString: '$data.i' }] } } }, { $sort: { text: 1 } }];
  // On a busy computer the work limit may end both before the others are answered; then try again.
  for (let codes: unknown[] = []; codes.join() !== 'canceled,canceled'; ) {
    const cancel = new AbortController();
    const stuck = [1, 2].map(() =>
      store.mql(runaway, { signal: cancel.signal }).then(
        () => 'answered',
        ({ code }: PlatformError) => code,
      ),
    );
    // One query that runs at once, one that needs a separate thread, and rows that arrive in the meantime.
    store.append({ readings: [{ data: { i: 3 } }] });
    const rows = await store.count();
    expect((await store.mql(concat)).map((row) => row['text'])).toEqual([
      'x1',
      'x2',
      ...Array.from({ length: rows - 2 }, () => 'x3'),
    ]);
    cancel.abort();
    codes = await Promise.all(stuck);
  }
  // Their threads are free again: send more queries than there are threads.
  expect(await Promise.all(Array.from({ length: 6 }, () => store.mql(concat)))).toHaveLength(6);
  await expect.poll(async () => (await store.tabular.status()).runningQueries).toBe(0);
  expect(await store.tabular.status()).toMatchObject({ processId, restarts: 0 });
});

test('beside four busy processes a runaway query ends by its work limit, not at its deadline', async () => {
  await using store = await openTabular({ deadlineMs, killAfterMs });
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.count();
  using busy = new DisposableStack();
  for (let number = 0; number < 4; number++) {
    // Each also ends by itself.
    const child = spawn(process.execPath, ['-e', 'for (const end = Date.now() + 60_000; Date.now() < end; );']);
    busy.defer(() => void child.kill('SIGKILL'));
    await new Promise((resolve) => child.once('spawn', resolve));
  }
  await expect(store.mql(runaway)).rejects.toMatchObject({
    code: 'deadline_exceeded',
    message: expect.stringContaining('out of proportion'),
  });
  expect((await store.tabular.status()).restarts).toBe(0);
});

test('a runaway query ends at its deadline', async () => {
  await using store = await openTabular({ deadlineMs, killAfterMs });
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.count();
  await expect(store.mql(runaway, { deadlineMs: 500 })).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await expect.poll(async () => (await store.tabular.status()).runningQueries).toBe(0);
  expect(await store.count()).toBe(1);
  expect((await store.tabular.status()).restarts).toBe(0);
});

test('only the query that needs more memory than allowed is refused', async () => {
  await using store = await openTabular({ deadlineMs, executorMemoryBytes: 24 << 20 });
  const readings = Array.from({ length: 5_000 }, (_, i) => ({ data: { i, text: 'm'.repeat(2_000) } }));
  for (let i = 0; i < 10; i++) store.append({ readings });
  expect(await store.count()).toBe(50_000);
  const { processId } = await store.tabular.status();
  const hungry = [
    { $group: { _id: { $concat: ['$data.text', { $toString: '$data.i' }] }, all: { $push: '$data.text' } } },
  ];
  const [refused, answered] = await Promise.allSettled([store.mql(hungry), store.count()]);
  expect(refused).toMatchObject({ reason: { code: 'resource_exhausted', message: expect.stringContaining('memory') } });
  expect(answered).toMatchObject({ value: 50_000 });
  expect(await store.mql([{ $limit: 2 }, { $project: { text: { $concat: ['a', 'b'] } } }])).toHaveLength(2);
  expect(await store.tabular.status()).toMatchObject({ processId, restarts: 0 });
});

test('texts and arrays that double forty times cause RESOURCE_EXHAUSTED', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  for (const a of [{ $concat: ['$a', '$a'] }, ['$a', '$a']]) {
    const doubling = Array.from({ length: 40 }, () => ({ $addFields: { a } }));
    await expect(store.mql([{ $addFields: { a: 'x'.repeat(1_000) } }, ...doubling])).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringMatching(/BSONObjectTooLarge, code 10334/),
    });
  }
  expect((await store.tabular.status()).restarts).toBe(0);
});
