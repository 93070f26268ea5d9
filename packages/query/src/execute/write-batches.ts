/** Turns rows into batches. */

import type { Batch } from '../bson/batch.ts';
import { BsonWriter } from '../bson/encode.ts';
import type { Budget, Limits } from './limits/budget.ts';
import type { Row } from './row.ts';

export async function* writeBatches(
  input: AsyncIterable<Row[]>,
  budget: Budget,
  limits: Limits,
): AsyncGenerator<Batch, void, undefined> {
  const { batchRows = 1000, batchBytes = 1024 * 1024 } = limits;
  const writer = new BsonWriter(64 * 1024);
  let ends: number[] = [];
  const take = (): Batch => {
    const batch = { count: ends.length, bytes: writer.take(), ends: Uint32Array.from(ends) };
    ends = [];
    return batch;
  };
  for await (const rows of input) {
    await budget.pause();
    for (const row of rows) {
      if (row.bytes === undefined) writer.document(row.document);
      else writer.raw(row.bytes);
      ends.push(writer.length);
      if (ends.length >= batchRows || writer.length >= batchBytes) yield take();
    }
  }
  if (ends.length > 0) yield take();
}
