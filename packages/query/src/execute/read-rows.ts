/** Turns batches into chunks of rows. */

import { type Batch, DocumentBatch } from '../bson/batch.ts';
import { BsonReader } from '../bson/decode.ts';
import { FieldNames } from '../bson/field-names.ts';
import type { FieldsRead } from '../plan/fields-read.ts';
import type { Budget } from './limits/budget.ts';
import type { Row } from './row.ts';

const chunkRows = 200;

/** Reads only the required fields. */
export async function* readRows(
  fields: FieldsRead,
  input: AsyncIterable<Batch> | Iterable<Batch>,
  budget: Budget,
): AsyncIterable<Row[]> {
  const read = rowReader(fields, budget);
  for await (const batch of input) yield* read(batch);
}

/** A function that reads one batch; its batches should contain similar rows. */
export function rowReader(
  { mask, passThrough }: FieldsRead,
  budget: Budget,
): (batch: Batch) => AsyncGenerator<Row[], void, undefined> {
  const names = new FieldNames(mask);
  return async function* read(batch) {
    if (batch instanceof DocumentBatch && !passThrough) {
      for (let start = 0; start < batch.count; start += chunkRows) {
        await budget.pause();
        yield batch.documents.slice(start, start + chunkRows).map((document) => ({ document }));
      }
      return;
    }
    const reader = new BsonReader(batch.bytes, names);
    let start = 0;
    let chunk: Row[] = [];
    for (let index = 0; index < batch.count; index++) {
      const end = batch.ends[index]!;
      const document = reader.document(start);
      chunk.push(passThrough ? { document, bytes: batch.bytes.subarray(start, end) } : { document });
      start = end;
      if (chunk.length < chunkRows) continue;
      await budget.pause();
      yield chunk;
      chunk = [];
    }
    await budget.pause();
    if (chunk.length > 0) yield chunk;
  };
}
