/** A statement through parser, compiler and executor, before flattening. */

import { type BsonDocument, batchOf, execute, parseSql } from '@platform/query';
import type { SqlCase } from './case.ts';
import { caseDeadlineMs, collect } from './run-mql.ts';

/** @throws QueryError when the statement is refused; anything else is a defect. */
export async function runSqlCase({ sql, databases, currentDatabase }: SqlCase): Promise<BsonDocument[]> {
  const collections = databases.get(currentDatabase) ?? new Map<string, readonly BsonDocument[]>();
  const tables = Object.fromEntries([...collections.keys()].map((name) => [name, null]));
  const plan = parseSql(sql, tables);
  const [documents = []] = collections.values();
  return collect(execute(plan.stages, [batchOf(documents)], { deadlineMs: Date.now() + caseDeadlineMs }));
}
