/** For tests: documents from JavaScript objects, and queries over them. Whole numbers become int32, as in the shell. */

import { batchOf, documentsOf } from '../bson/batch.ts';
import { BsonDocument, type BsonValue, Int32 } from '../bson/value.ts';
import { execute } from '../execute/execute.ts';
import type { Limits } from '../execute/limits/budget.ts';
import { parseMql } from '../mql/parse.ts';
import type { Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import { parseSql } from '../sql/parse.ts';

export function bson(value: unknown): BsonValue {
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return new Int32(value);
  if (Array.isArray(value)) return value.map(bson);
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return doc(value);
  return value as BsonValue;
}

export function doc(value: object): BsonDocument {
  return new BsonDocument(Object.entries(value).map(([name, each]): [string, BsonValue] => [name, bson(each)]));
}

export async function run(
  rows: readonly BsonDocument[],
  stages: readonly Stage[],
  limits?: Limits,
): Promise<BsonDocument[]> {
  const result: BsonDocument[] = [];
  for await (const batch of execute(stages, [batchOf(rows)], limits)) result.push(...documentsOf(batch));
  return result;
}

export function runMql(
  rows: readonly BsonDocument[],
  pipeline: readonly object[],
  limits?: Limits,
): Promise<BsonDocument[]> {
  return run(rows, parseMql(pipeline.map(doc)).stages, limits);
}

export function runSql(rows: readonly BsonDocument[], text: string): Promise<BsonDocument[]> {
  const input = [batchOf(rows)];
  const plan = parseSql(text);
  return run(plan.source === 'none' ? [] : rows, plan.stages, { open: () => input });
}

/** The error that refuses a pipeline before it runs. */
export function refusalOf(...pipeline: object[]): QueryError {
  try {
    parseMql(pipeline.map(doc));
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error('the pipeline was accepted');
}
