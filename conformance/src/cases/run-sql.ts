/** A statement through parser, compiler and executor, before flattening: documents of namespaces. */

import { type BsonDocument, batchOf, execute, parseSql } from '@platform/query';
import type { SqlCase } from './case.ts';
import { caseLimits, collect } from './run-mql.ts';

/** Compiled; the returned function runs it. @throws QueryError when the statement is refused; anything else is a defect. */
export function compileSqlCase({ sql, databases, currentDatabase }: SqlCase): () => Promise<BsonDocument[]> {
  const collections = databases.get(currentDatabase) ?? new Map<string, readonly BsonDocument[]>();
  const tables = Object.fromEntries([...collections.keys()].map((name) => [name, null]));
  const plan = parseSql(sql, tables);
  const [documents = []] = collections.values();
  return () => collect(execute(plan.stages, [batchOf(documents)], caseLimits()));
}

/** What a statement compiles to where every name may be a collection with any fields. @throws QueryError */
export function planText(sql: string, given: SqlCase): string {
  const names = `${given.sql} ${sql}`.match(/\w+/g) ?? [];
  const plan = parseSql(sql, Object.fromEntries(names.map((name) => [name, null])));
  return JSON.stringify(plan, (_, value: unknown) => (typeof value === 'bigint' ? `${value} (long)` : value));
}
