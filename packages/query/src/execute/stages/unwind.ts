/** $unwind: a row for each element of an array. */

import { isNullish } from '../../bson/type.ts';
import { BsonDocument, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { withValue } from '../expressions/with-value.ts';
import type { Budget } from '../limits/budget.ts';
import type { Row } from '../row.ts';

const chunkRows = 1000;

export async function* runUnwind(
  stage: Stage & { k: 'unwind' },
  input: AsyncIterable<Row[]>,
  budget: Budget,
): AsyncIterable<Row[]> {
  let chunk: Row[] = [];
  for await (const rows of input) {
    for (const row of rows) {
      const { near } = row;
      for (const document of unwound(row.document, stage)) {
        if (chunk.push(near === undefined ? { document } : { document, near }) < chunkRows) continue;
        await budget.pause();
        yield chunk;
        chunk = [];
      }
    }
    if (chunk.length > 0) yield chunk;
    chunk = [];
  }
}

/** What is not an array counts as an array of itself, but has no index. */
function* unwound(row: BsonDocument, { path, index, keepEmpty }: Stage & { k: 'unwind' }): Iterable<BsonDocument> {
  const place = (document: BsonDocument, at: bigint | null): BsonDocument =>
    index === undefined ? document : withValue(document, index, at);
  const value = valueAtFields(row, path);
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield place(withValue(row, path, item), BigInt(at));
    if (value.length === 0 && keepEmpty) yield place(withValue(row, path, undefined), null);
  } else if (!isNullish(value) || keepEmpty) yield place(row, null);
}

/** Arrays on the way are not entered. */
function valueAtFields(row: BsonDocument, path: Path): Maybe {
  let current: Maybe = row;
  for (const name of path) current = current instanceof BsonDocument ? current.get(name) : undefined;
  return current;
}
