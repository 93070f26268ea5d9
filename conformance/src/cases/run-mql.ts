/** A pipeline through parser and executor. */

import { type Batch, type BsonDocument, batchOf, documentsOf, execute, parseMql } from '@platform/query';
import type { MqlCase } from './case.ts';

/** After this long a case ends with an error of the executor's own. */
export const caseDeadlineMs = 5000;

/** @throws QueryError when the query is refused; anything else is a defect. */
export async function runMqlCase({ pipeline, docs }: MqlCase): Promise<BsonDocument[]> {
  return collect(execute(parseMql(pipeline).stages, [batchOf(docs)], { deadlineMs: Date.now() + caseDeadlineMs }));
}

export async function collect(batches: AsyncIterable<Batch>): Promise<BsonDocument[]> {
  const result: BsonDocument[] = [];
  for await (const batch of batches) result.push(...documentsOf(batch));
  return result;
}
