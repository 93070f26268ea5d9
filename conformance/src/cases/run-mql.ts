/** Runs a pipeline through parser and executor. */

import { type Batch, type BsonDocument, batchOf, documentsOf, execute, type Limits } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import type { MqlCase } from './case.ts';

/** After this time the executor ends a case with its own error. */
const caseDeadlineMs = 5000;

/** Parses the pipeline; the returned function runs it. @throws QueryError if the query is refused; any other error is a defect. */
export function compileMqlCase({ pipeline, docs }: MqlCase): () => Promise<BsonDocument[]> {
  const { stages } = parseMql(pipeline);
  return () => collect(execute(stages, [batchOf(docs)], caseLimits()));
}

export function caseLimits(): Limits {
  return { deadlineMs: Date.now() + caseDeadlineMs };
}

export async function collect(batches: AsyncIterable<Batch>): Promise<BsonDocument[]> {
  const result: BsonDocument[] = [];
  for await (const batch of batches) result.push(...documentsOf(batch));
  return result;
}
