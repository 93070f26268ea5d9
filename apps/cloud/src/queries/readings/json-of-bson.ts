/** Values of a row as a Struct carries them. Readings come as Structs, so nothing of theirs is lost. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import {
  Binary,
  BsonDate,
  BsonDocument,
  type BsonValue,
  Decimal128,
  decimalText,
  encodeBson,
  Int32,
} from '@platform/query';
import { needsDowngrade } from '../downgrade-bson.ts';

/** NaN and the infinities, which JSON has no numbers for: as they are, or as texts of these names. */
export type NonFinite = 'number' | 'text';

/** Readers of JSON, and the public TypeScript client that turns Structs into JSON, would lose the whole answer over such a number (D7). */
export function nonFiniteFor(metadata: Headers): NonFinite {
  const readsJson = metadata.get('content-type')?.includes('json') ?? false;
  return readsJson || needsDowngrade(metadata) ? 'text' : 'number';
}

export function jsonOfDocument(document: BsonDocument, nonFinite: NonFinite): JsonObject {
  return Object.fromEntries([...document].map(([name, value]) => [name, jsonOfBson(value, nonFinite)]));
}

/** Dates as RFC 3339, bytes as base64, decimals as text, longs as the nearest double. */
export function jsonOfBson(value: BsonValue, nonFinite: NonFinite): JsonValue {
  if (typeof value === 'number') return nonFinite === 'text' && !Number.isFinite(value) ? String(value) : value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map((item) => jsonOfBson(item, nonFinite));
  if (value instanceof BsonDocument) return jsonOfDocument(value, nonFinite);
  if (value instanceof Int32) return value.value;
  if (value instanceof BsonDate) return new Date(value.ms).toISOString();
  if (value instanceof Binary) return Buffer.from(value.bytes).toString('base64');
  if (value instanceof Decimal128) return decimalText(value);
  return Buffer.from(encodeBson(BsonDocument.of({ value }))).toString('base64');
}
