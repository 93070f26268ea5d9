/** The outcome of running a case. */

import { type BsonDocument, QueryError } from '@platform/query';
import type { Case } from './case.ts';
import { encodeExtended } from './extended-json/encode.ts';
import { compileMqlCase } from './run-mql.ts';
import { compileSqlCase, planText } from './run-sql.ts';

export type Outcome =
  | { readonly k: 'documents'; readonly documents: readonly BsonDocument[] }
  /** `compiled`: the query was accepted and failed over the data. */
  | { readonly k: 'refused'; readonly error: QueryError; readonly compiled: boolean }
  /** Two statements that must mean the same. */
  | { readonly k: 'plans'; readonly actual: string; readonly expected: string }
  /** A defect: an error that is not the engine's own. */
  | { readonly k: 'broken'; readonly error: unknown };

export async function runCase(given: Case): Promise<Outcome> {
  let compiled = false;
  try {
    if (given.k === 'sql' && given.expected.k === 'rewrite') {
      const expected = planText(given.expected.sql, given);
      return { k: 'plans', actual: planText(given.sql, given), expected };
    }
    const run = given.k === 'mql' ? compileMqlCase(given) : compileSqlCase(given);
    compiled = true;
    return { k: 'documents', documents: await run() };
  } catch (error) {
    return error instanceof QueryError ? { k: 'refused', error, compiled } : { k: 'broken', error };
  }
}

/** The JSON fields that represent an actual result. */
export function outcomeJson(outcome: Outcome): string {
  if (outcome.k === 'documents') return `"result":${documentsJson(outcome.documents)}`;
  if (outcome.k === 'plans') return `"plan":${JSON.stringify(outcome.actual)}`;
  if (outcome.k === 'broken') return `"broken":${JSON.stringify(String(outcome.error))}`;
  const { code, codeName, message } = outcome.error;
  return `"error":${JSON.stringify({ code, codeName, message })}`;
}

export function describeOutcome(outcome: Outcome): string {
  if (outcome.k === 'documents') return documentsJson(outcome.documents);
  if (outcome.k === 'refused') return `refused: ${outcome.error.message}`;
  if (outcome.k === 'plans') return `${outcome.actual} where the other compiles to ${outcome.expected}`;
  const { error } = outcome;
  return `broken: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

export function documentsJson(documents: readonly BsonDocument[]): string {
  return `[${documents.map(encodeExtended).join(',')}]`;
}
