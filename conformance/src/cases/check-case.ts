/** Runs and judges one line of a case file; input and result are plain data that can cross threads. */

import { BsonDocument, type BsonValue } from '@platform/query';
import { type Case, type MqlCase, readCase } from './case.ts';
import { describeExpected, type Kind, kindOf, meets } from './compare-outcome.ts';
import { operatorLabels, stageLabels } from './label.ts';
import { type Alteration, alter, alterations } from './mutate-case.ts';
import { describeOutcome, documentsJson, type Outcome, outcomeJson, runCase } from './outcome.ts';

export type Verdict = 'passed' | 'failed' | 'excluded';

export interface CheckedCase {
  readonly name: string;
  readonly msg: string;
  readonly source: string;
  readonly group: string;
  readonly stages: readonly string[];
  readonly operators: readonly string[];
  readonly kind: Kind;
  readonly verdict: Verdict;
  /** Why it was excluded. */
  readonly reason?: string;
  /** Input, query, expectation and outcome as text; only for failures. */
  readonly details?: FailureDetails;
  /** The fields of the actual result, as JSON text without braces. */
  readonly actualJson: string;
  /** Alterations of the expectation that were tried, and whether the comparison noticed. */
  readonly alterations: readonly { readonly alteration: Alteration; readonly noticed: boolean }[];
}

export interface FailureDetails {
  readonly docs: string;
  readonly query: string;
  readonly expected: string;
  readonly actual: string;
}

/** @param selfTest whether to alter the expectation of a passed case in every applicable way. */
export async function checkCase(line: string, selfTest: boolean): Promise<CheckedCase> {
  const given = readCase(line);
  const outcome = await runCase(given);
  const reason = exclusionOf(given);
  const verdict = reason !== undefined ? 'excluded' : meets(given, outcome) ? 'passed' : 'failed';
  const { name, msg, source, group } = given;
  return {
    ...{ name, msg, source, group, verdict },
    stages: stageLabels(given),
    operators: operatorLabels(given),
    kind: kindOf(given),
    ...(reason === undefined ? {} : { reason }),
    ...(verdict === 'failed' ? { details: detailsOf(given, outcome) } : {}),
    actualJson: outcomeJson(outcome),
    alterations: selfTest && verdict === 'passed' ? tryAlterations(given, outcome) : [],
  };
}

function detailsOf(given: Case, outcome: Outcome): FailureDetails {
  const isSql = given.k === 'sql';
  return {
    docs: isSql ? given.currentDatabase : documentsJson(given.docs),
    query: isSql ? given.sql : documentsJson(given.pipeline),
    expected: describeExpected(given),
    actual: describeOutcome(outcome),
  };
}

function tryAlterations(given: Case, outcome: Outcome): CheckedCase['alterations'] {
  const { expected } = given;
  if (expected.k !== 'documents' || kindOf(given) !== 'result') return [];
  return alterations.flatMap((alteration) => {
    const documents = alter(expected.documents, alteration);
    if (documents === undefined) return [];
    return [{ alteration, noticed: !meets({ ...given, expected: { k: 'documents', documents } }, outcome) }];
  });
}

/** MongoDB's code for a missing or ambiguous index that a query needs. */
const indexNotFoundCode = 27;

/** Which cases do not apply to this engine, and why. They are counted, never hidden. The reason, or `undefined` for a case that counts. */
function exclusionOf(given: Case): string | undefined {
  if (given.k === 'sql') return undefined;
  const { options, pipeline, expected } = given;
  if (options.length > 0) return `the option ${options.join(', ')} is not on the wire`;
  if (kindOf(given) === 'unsupported stage') return undefined;
  if (expected.k === 'documents' && pipeline.some((stage) => names(stage, '$text'))) {
    return '$text needs a text index, which only the server has';
  }
  if (expected.k === 'code' && expected.code === indexNotFoundCode) {
    return 'it asks for the fault of a missing or unclear index; here no query needs one';
  }
  if (pipeline.some(asksForIndexKey)) return 'it asks for the key in an index; here there is none';
  if (expected.k === 'documents' && pipeline.some((stage) => names(stage, '$accumulator'))) {
    return 'it needs server-side JavaScript, which is refused';
  }
  if (wasFilledElsewhere(given)) return 'its documents were written by an earlier query that the case does not hold';
  return undefined;
}

/** No stage creates documents from nothing, so the collection was not as empty as the case says. */
function wasFilledElsewhere({ docs, expected }: MqlCase): boolean {
  return docs.length === 0 && expected.k === 'documents' && expected.documents.length > 0;
}

function asksForIndexKey(value: BsonValue): boolean {
  if (Array.isArray(value)) return value.some(asksForIndexKey);
  if (!(value instanceof BsonDocument)) return false;
  return value.get('$meta') === 'indexKey' || [...value.values()].some(asksForIndexKey);
}

function names(value: BsonValue, key: string): boolean {
  if (Array.isArray(value)) return value.some((each) => names(each, key));
  if (!(value instanceof BsonDocument)) return false;
  return value.has(key) || [...value.values()].some((each) => names(each, key));
}
