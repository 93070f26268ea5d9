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

export function jsonOfDocument(document: BsonDocument): JsonObject {
  return Object.fromEntries([...document].map(([name, value]) => [name, jsonOfBson(value)]));
}

/** Dates as RFC 3339, bytes as base64, decimals as text, longs as the nearest double. */
export function jsonOfBson(value: BsonValue): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(jsonOfBson);
  if (value instanceof BsonDocument) return jsonOfDocument(value);
  if (value instanceof Int32) return value.value;
  if (value instanceof BsonDate) return new Date(value.ms).toISOString();
  if (value instanceof Binary) return Buffer.from(value.bytes).toString('base64');
  if (value instanceof Decimal128) return decimalText(value);
  return Buffer.from(encodeBson(BsonDocument.of({ value }))).toString('base64');
}
