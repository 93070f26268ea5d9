/** Which cases do not apply to this engine, and why. They are counted, never hidden. */

import { BsonDocument, type BsonValue } from '@platform/query';
import type { Case, MqlCase } from './case.ts';
import { kindOf } from './compare-outcome.ts';

/** MongoDB's code for a missing or ambiguous index that a query needs. */
const indexNotFoundCode = 27;

/** The reason, or `undefined` for a case that counts. */
export function exclusionOf(given: Case): string | undefined {
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
