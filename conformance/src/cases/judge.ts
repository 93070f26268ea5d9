/** Runs a case and says whether what happened is what it expects. */

import { type BsonDocument, QueryError, supportedStages } from '@platform/query';
import type { Case } from './case.ts';
import { exclusionOf } from './exclusion.ts';
import { encodeExtended } from './extended-json/encode.ts';
import { runMqlCase } from './run-mql.ts';
import { runSqlCase } from './run-sql.ts';
import { sameDocuments } from './same.ts';

export type Verdict = 'passed' | 'failed' | 'excluded';

/** What a case asserts: a result, a refusal by code, any refusal, the refusal of a stage that we do not have. */
export type Kind = 'result' | 'code' | 'refusal' | 'unsupported stage';

export interface Judgement {
  readonly verdict: Verdict;
  readonly kind: Kind;
  /** Expected and actual in words, canonical Extended JSON for documents. */
  readonly expected: string;
  readonly actual: string;
  /** Why it was excluded. */
  readonly reason?: string;
}

/** The code with which a stage is refused that is not one of ours. */
const unsupportedStageCode = 40324;

/** What running a case gave. */
export type Outcome =
  | { readonly k: 'documents'; readonly documents: readonly BsonDocument[] }
  | { readonly k: 'refused'; readonly error: QueryError }
  | { readonly k: 'broken'; readonly error: unknown };

export async function judge(given: Case): Promise<Judgement> {
  const kind = kindOf(given);
  const expected = describeExpected(given, kind);
  const reason = exclusionOf(given);
  if (reason !== undefined) return { verdict: 'excluded', kind, expected, actual: '', reason };
  const outcome = await runCase(given);
  return { verdict: meets(given, kind, outcome) ? 'passed' : 'failed', kind, expected, actual: describe(outcome) };
}

export async function runCase(given: Case): Promise<Outcome> {
  try {
    return { k: 'documents', documents: await (given.k === 'mql' ? runMqlCase(given) : runSqlCase(given)) };
  } catch (error) {
    return error instanceof QueryError ? { k: 'refused', error } : { k: 'broken', error };
  }
}

function kindOf(given: Case): Kind {
  if (given.k === 'mql' && !isIn22(given.stages, given.in22)) return 'unsupported stage';
  return given.expected.k === 'documents' ? 'result' : given.expected.k;
}

function isIn22(stages: readonly string[], given: boolean | undefined): boolean {
  return given ?? stages.every((stage) => (supportedStages as readonly string[]).includes(stage));
}

/** Does the outcome meet what the case expects? */
export function meets(given: Case, kind: Kind, outcome: Outcome): boolean {
  if (outcome.k === 'broken') return false;
  if (kind === 'unsupported stage') return outcome.k === 'refused' && outcome.error.code === unsupportedStageCode;
  const { expected } = given;
  if (expected.k === 'code') return outcome.k === 'refused' && outcome.error.code === expected.code;
  // What this version does not run yet is not a refusal of the same kind.
  if (expected.k === 'refusal') return outcome.k === 'refused' && outcome.error.codeName !== 'NotImplemented';
  return outcome.k === 'documents' && sameDocuments(outcome.documents, expected.documents, given);
}

function describeExpected({ expected }: Case, kind: Kind): string {
  if (kind === 'unsupported stage') return `refused as an unsupported stage (code ${unsupportedStageCode})`;
  if (expected.k === 'code') return `refused with code ${expected.code}`;
  if (expected.k === 'refusal') return `refused: ${expected.text}`;
  return listText(expected.documents);
}

function describe(outcome: Outcome): string {
  if (outcome.k === 'documents') return listText(outcome.documents);
  if (outcome.k === 'refused') return `refused: ${outcome.error.message}`;
  const { error } = outcome;
  return `broken: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

function listText(documents: readonly BsonDocument[]): string {
  return `[${documents.map(encodeExtended).join(', ')}]`;
}
