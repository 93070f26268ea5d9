import { expect, test } from 'vitest';
import { type Batch, batchOf } from '../bson/batch.ts';
import { parseMql } from '../mql/parse.ts';
import { doc, runMql } from '../testing/run.ts';
import { execute } from './execute.ts';

const rows = Array.from({ length: 5000 }, (_, n) => doc({ n, text: 'x'.repeat(100) }));

test('a sort or group that holds more than its memory is refused', async () => {
  await expect(runMql(rows, [{ $sort: { n: -1 } }], { maxBytes: 100_000 })).rejects.toMatchObject({
    code: 292,
    status: 'resource_exhausted',
  });
  await expect(runMql(rows, [{ $group: { _id: '$n' } }], { maxBytes: 100_000 })).rejects.toMatchObject({ code: 292 });
});

test('a sort with a small limit stays within its memory', async () => {
  const top = await runMql(rows.concat(rows, rows, rows), [{ $sort: { n: -1 } }, { $limit: 1 }], {
    maxBytes: 9_000_000,
  });
  expect(top).toHaveLength(1);
});

test('the deadline and the signal end a query', async () => {
  const clock = {
    now: () => 2000,
    monotonic: () => 0,
    sleep: () => Promise.resolve(),
    every: () => ({ [Symbol.dispose]: () => {} }),
  };
  await expect(runMql(rows, [{ $match: {} }], { deadlineMs: 1000, clock })).rejects.toMatchObject({
    codeName: 'MaxTimeMSExpired',
    status: 'deadline_exceeded',
  });
  await expect(runMql(rows, [{ $match: {} }], { signal: AbortSignal.abort() })).rejects.toMatchObject({
    status: 'canceled',
  });
});

test('rows stream: a limit that is reached stops reading the input', async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Batch> {
    for (;;) {
      read++;
      yield batchOf([doc({ n: read })]);
    }
  }
  let count = 0;
  for await (const batch of execute(parseMql([doc({ $match: {} }), doc({ $limit: 3 })]).stages, endless()))
    count += batch.count;
  expect(count).toBe(3);
  expect(read).toBeLessThan(5);
});

test('rows that only pass filters leave with the bytes with which they came', async () => {
  const input = batchOf([doc({ n: 1, deep: { a: [1, 'x'] } }), doc({ n: 2 })]);
  const output: Batch[] = [];
  for await (const batch of execute(parseMql([doc({ $match: { n: 1 } })]).stages, [input])) output.push(batch);
  expect(output[0]!.bytes).toEqual(input.bytes.slice(0, input.ends[0]));
});
