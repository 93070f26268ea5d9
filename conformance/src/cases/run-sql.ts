/** Runs a statement through parser, compiler and executor, with rows in the form of the case. */

import { type BsonDocument, batchOf, execute, QueryError } from '@platform/query';
import { kindOfSchema, parseSql, type RowForm, type SqlSchema, type Tables } from '@platform/query/sql';
import type { SqlCase } from './case.ts';
import type { Json, JsonObject } from './extended-json/read-json.ts';
import { caseLimits, collect } from './run-mql.ts';

/** Compiles the statement; the returned function runs it. @throws QueryError if it is refused; any other error is a defect. */
export function compileSqlCase(given: SqlCase): () => Promise<BsonDocument[]> {
  const plan = parseSql(given.sql, tablesOf(given), formOf(given));
  const open = (source: string): ReturnType<typeof batchOf>[] => [batchOf(documentsOf(given, source))];
  return () => collect(execute(plan.stages, open(plan.source), { ...caseLimits(), open }));
}

/**
 * The compiled form of a statement, without positions, when every name may be a collection with any fields; for a meaningless statement (an
 * unknown name), the reason. @throws QueryError if the dialect supports it and this version does not.
 */
export function planText(sql: string, { currentDatabase }: SqlCase): string {
  try {
    const plan = parseSql(sql, { database: currentDatabase, databases: undefined }, 'tables');
    return JSON.stringify(plan, (name, value: unknown) => {
      if (name === 'at') return undefined;
      return typeof value === 'bigint' ? `${value} (long)` : value;
    });
  } catch (error) {
    if (!(error instanceof QueryError) || error.codeName === 'NotImplemented') throw error;
    return `refused: ${error.reason}`;
  }
}

export function formOf({ columns, excludeNamespaces }: SqlCase): RowForm {
  if (columns !== undefined) return 'flat';
  return excludeNamespaces ? 'merged' : 'tables';
}

/** Collections that the case describes only by documents may have any fields. */
export function tablesOf({ databases, schemas, currentDatabase }: SqlCase): Tables {
  const named = new Set([...databases.keys(), ...schemas.keys()]);
  const found = [...named].map((database) => {
    const described = members(schemas.get(database));
    const collections = new Set([...(databases.get(database)?.keys() ?? []), ...described.keys()]);
    const tables = [...collections].map((name) => {
      const schema = (plain(described.get(name) ?? null) ?? { bsonType: 'object' }) as SqlSchema;
      return [name, { source: sourceName(database, name), kind: kindOfSchema(schema) }] as const;
    });
    return [database, Object.fromEntries(tables)] as const;
  });
  return { database: currentDatabase, databases: Object.fromEntries(found) };
}

function documentsOf({ databases }: SqlCase, source: string): readonly BsonDocument[] {
  for (const [database, collections] of databases) {
    for (const [name, documents] of collections) if (sourceName(database, name) === source) return documents;
  }
  return [];
}

function sourceName(database: string, collection: string): string {
  return `${database}.${collection}`;
}

function members(json: Json | undefined): JsonObject {
  return json instanceof Map ? json : new Map();
}

function plain(json: Json): unknown {
  if (json instanceof Map) return Object.fromEntries([...json].map(([name, value]) => [name, plain(value)]));
  return Array.isArray(json) ? json.map(plain) : json;
}
