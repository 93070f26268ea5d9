/** Converts values of a row to JSON for a Struct. Readings arrive as Structs, so nothing in them is lost. */
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

/** How to return NaN and the infinities, for which JSON has no numbers: as numbers, or as strings. */
export type NonFinite = 'number' | 'text';

/** JSON clients, and the public TypeScript client, which converts Structs to JSON, would lose the whole answer over such a number (D7). */
export function nonFiniteFor(metadata: Headers): NonFinite {
  const readsJson = metadata.get('content-type')?.includes('json') ?? false;
  return readsJson || needsDowngrade(metadata) ? 'text' : 'number';
}

export function jsonOfDocument(document: BsonDocument, nonFinite: NonFinite): JsonObject {
  return Object.fromEntries([...document].map(([name, value]) => [name, jsonOfBson(value, nonFinite)]));
}

/** Dates become RFC 3339, bytes base64, decimals strings, longs the nearest double. */
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
