/** Batches become rows, in chunks. */

import type { Batch } from '../bson/batch.ts';
import { decodeBson } from '../bson/decode.ts';
import type { FieldsRead } from '../plan/fields-read.ts';
import type { Budget } from './budget.ts';
import type { Row } from './row.ts';

const chunkRows = 1000;

/** Reads only the fields that are asked for. */
export async function* readRows(
  { mask, passThrough }: FieldsRead,
  input: AsyncIterable<Batch> | Iterable<Batch>,
  budget: Budget,
): AsyncIterable<Row[]> {
  for await (const batch of input) {
    let start = 0;
    let chunk: Row[] = [];
    for (let index = 0; index < batch.count; index++) {
      const end = batch.ends[index]!;
      const document = decodeBson(batch.bytes, start, mask);
      chunk.push(passThrough ? { document, bytes: batch.bytes.subarray(start, end) } : { document });
      start = end;
      if (chunk.length < chunkRows) continue;
      await budget.pause();
      yield chunk;
      chunk = [];
    }
    await budget.pause();
    if (chunk.length > 0) yield chunk;
  }
}
