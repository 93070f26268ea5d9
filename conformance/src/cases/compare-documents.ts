/** Compares two results: exactly, except for what the case declares to be unordered or generated. */

import { BsonDocument, type BsonValue, ObjectId } from '@platform/query';
import { encodeExtended } from './extended-json/encode.ts';

export interface Looseness {
  readonly ordered: boolean;
  /** Paths of fields whose arrays are sets. */
  readonly ignoreOrderIn?: readonly string[];
  /** Whether the documents' `_id`s were generated. */
  readonly generatedIds?: boolean;
}

export function sameDocuments(
  actual: readonly BsonDocument[],
  expected: readonly BsonDocument[],
  looseness: Looseness,
): boolean {
  if (actual.length !== expected.length) return false;
  const left = texts(actual, looseness);
  const right = texts(expected, looseness);
  return left.every((text, index) => text === right[index]);
}

function texts(documents: readonly BsonDocument[], looseness: Looseness): string[] {
  const { ordered, ignoreOrderIn = [], generatedIds = false } = looseness;
  const found = documents.map((document) => {
    let loose = document;
    if (generatedIds && document.get('_id') instanceof ObjectId) {
      loose = new BsonDocument(document);
      loose.delete('_id');
    }
    for (const path of ignoreOrderIn) loose = withSet(loose, path.split('.'));
    return encodeExtended(loose);
  });
  return ordered ? found : found.sort();
}

/** The document with the array at the path in a canonical order. */
function withSet(document: BsonDocument, [name = '', ...rest]: readonly string[]): BsonDocument {
  const value = document.get(name);
  if (value === undefined) return document;
  const changed = new BsonDocument(document);
  changed.set(name, asSet(value, rest));
  return changed;
}

function asSet(value: BsonValue, path: readonly string[]): BsonValue {
  if (path.length > 0) {
    if (Array.isArray(value)) return value.map((each) => asSet(each, path));
    return value instanceof BsonDocument ? withSet(value, path) : value;
  }
  if (!Array.isArray(value)) return value;
  return value
    .map((each): [string, BsonValue] => [encodeExtended(each), each])
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .map(([, each]) => each);
}
