/** Runs and judges one line of a case file; input and result are plain data that can cross threads. */

import { type Case, readCase } from './case.ts';
import { describeExpected, type Kind, kindOf, meets } from './compare-outcome.ts';
import { exclusionOf } from './exclusion.ts';
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
