/** Compares the outcome with the expectation of a case. */

import { BsonDocument, type BsonValue, typeName } from '@platform/query';
import { pipelineStages } from '@platform/query/mql';
import type { Case } from './case.ts';
import { sameDocuments } from './compare-documents.ts';
import { documentsJson, type Outcome } from './outcome.ts';

/**
 * What a case asserts: a result, a refusal by code, any refusal, the refusal of an unsupported stage, or the meaning of another statement.
 */
export type Kind = 'result' | 'code' | 'refusal' | 'unsupported stage' | 'rewrite';

/** The code with which an unsupported stage is refused. */
const unsupportedStageCode = 40324;

export function kindOf(given: Case): Kind {
  if (given.k === 'mql' && !isIn22(given.stages, given.in22)) return 'unsupported stage';
  return given.expected.k === 'documents' ? 'result' : given.expected.k;
}

function isIn22(stages: readonly string[], given: boolean | undefined): boolean {
  return given ?? stages.every((stage) => pipelineStages.has(stage));
}

export function meets(given: Case, outcome: Outcome): boolean {
  if (outcome.k === 'broken') return false;
  if (outcome.k === 'plans') return outcome.actual === outcome.expected;
  const kind = kindOf(given);
  const { expected } = given;
  if (outcome.k === 'documents') {
    if (kind !== 'result' || expected.k !== 'documents') return false;
    const [actual, wanted] = [outcome.documents, expected.documents];
    if (given.k === 'sql' && given.typesOnly) return sameDocuments(actual.map(typesOf), wanted.map(typesOf), given);
    return sameDocuments(actual, wanted, given);
  }
  const { code, codeName } = outcome.error;
  // MongoDB's own error for such a stage (a second key beside it) is accepted too.
  if (kind === 'unsupported stage' && code === unsupportedStageCode) return true;
  if (expected.k === 'code') return code === expected.code;
  if (kind === 'unsupported stage' || expected.k !== 'refusal') return false;
  // UNIMPLEMENTED is not the refusal that the case expects, and a statement that must not compile may not fail only at run time.
  return codeName !== 'NotImplemented' && (given.k === 'mql' || !outcome.compiled);
}

export function describeExpected(given: Case): string {
  const { expected } = given;
  if (kindOf(given) === 'unsupported stage') return `refused as an unsupported stage (code ${unsupportedStageCode})`;
  if (expected.k === 'code') return `refused with code ${expected.code}`;
  if (expected.k === 'rewrite') return `the same as ${expected.sql}`;
  return expected.k === 'refusal' ? `refused: ${expected.text}` : documentsJson(expected.documents);
}

/** Every value replaced by the name of its type; documents and arrays keep their shape. */
function typesOf(document: BsonDocument): BsonDocument {
  return new BsonDocument([...document].map(([name, value]): [string, BsonValue] => [name, typeOf(value)]));
}

function typeOf(value: BsonValue): BsonValue {
  if (value instanceof BsonDocument) return typesOf(value);
  return Array.isArray(value) ? value.map(typeOf) : typeName(value);
}
