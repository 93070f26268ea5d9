/**
 * Passes through rows that were already processed by the whole plan where they were read: they are the answer, and the executor is not
 * needed.
 */
import type { Batch, SourceBatch } from '@platform/query';

/** Bytes sent at a time; a chunk of large rows may be hundreds of megabytes. */
const pieceBytes = 1 << 20;

/** @returns the first unfinished batch; `all`: there is none; undefined: there is no batch at all */
export async function* passThroughRows(
  input: AsyncIterator<SourceBatch>,
): AsyncGenerator<Batch, SourceBatch | 'all' | undefined, undefined> {
  for (let isFirst = true; ; isFirst = false) {
    const next = await input.next();
    if (next.done === true) return isFirst ? undefined : 'all';
    if (!next.value.done) return next.value;
    yield* piecesOf(next.value.batch);
  }
}

/** Batches of at most `maxBytes`, or of one row. */
export function* piecesOf(batch: Batch, maxBytes: number = pieceBytes): Generator<Batch> {
  if (batch.bytes.length <= maxBytes) return yield batch;
  const { count, bytes, ends } = batch;
  for (let first = 0; first < count; ) {
    const from = first === 0 ? 0 : (ends[first - 1] as number);
    let end = first + 1;
    while (end < count && (ends[end] as number) - from <= maxBytes) end++;
    const to = ends[end - 1] as number;
    yield { count: end - first, bytes: bytes.slice(from, to), ends: ends.slice(first, end).map((each) => each - from) };
    first = end;
  }
}
