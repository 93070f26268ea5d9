import { type Batch, BsonDocument, batchOf, documentsOf, type SourceBatch } from '@platform/query';
import { expect, test } from 'vitest';
import { passThroughRows, piecesOf } from './pass-through-rows.ts';

const rows = (...values: number[]): Batch => batchOf(values.map((n) => BsonDocument.of({ n })));
const valuesOf = (batch: Batch): unknown[] => [...documentsOf(batch)].map((row) => row.get('n'));

async function* given(...batches: readonly SourceBatch[]): AsyncGenerator<SourceBatch> {
  yield* batches;
}

test('finished batches are passed through unchanged, up to the first unfinished one', async () => {
  const open = { batch: rows(3), done: false };
  const input = given({ batch: rows(1), done: true }, { batch: rows(2), done: true }, open, {
    batch: rows(4),
    done: true,
  });
  const finished = passThroughRows(input);
  expect(valuesOf((await finished.next()).value as Batch)).toEqual([1]);
  expect(valuesOf((await finished.next()).value as Batch)).toEqual([2]);
  expect(await finished.next()).toEqual({ done: true, value: open });
  expect(valuesOf((await input.next()).value.batch)).toEqual([4]);
});

test('an empty input is distinguished from one with only finished batches', async () => {
  expect(await passThroughRows(given()).next()).toEqual({ done: true, value: undefined });
  const finished = passThroughRows(given({ batch: rows(1), done: true }));
  await finished.next();
  expect(await finished.next()).toEqual({ done: true, value: 'all' });
});

test('a large batch is sent in pieces, and a row larger than a piece alone', () => {
  const long = batchOf([1, 2, 3, 4, 5].map((n) => BsonDocument.of({ n, text: 'x'.repeat(n === 3 ? 500 : 20) })));
  const pieces = [...piecesOf(long, 120)];
  expect(pieces.map(valuesOf)).toEqual([[1, 2], [3], [4, 5]]);
  expect(pieces.map(({ count, bytes, ends }) => [count, bytes.length === ends.at(-1)])).toEqual([
    [2, true],
    [1, true],
    [2, true],
  ]);
  expect([...piecesOf(long)]).toEqual([long]);
});
