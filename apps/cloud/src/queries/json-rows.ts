/** Rows as plain JSON, for readers without our libraries. */
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Decimal128,
  decimalText,
  encodeBson,
  Int32,
  ObjectId,
} from '@platform/query';
import { type Document, deserialize, EJSON } from 'bson';

/**
 * Integers keep all their digits; dates become RFC 3339, bytes base64, decimals and ObjectIds strings. JSON has no numbers for NaN and
 * the infinities, so they become strings. MongoDB's other types become relaxed Extended JSON.
 */
export function jsonText(value: BsonValue): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : `"${value}"`;
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (value instanceof BsonDocument)
    return `{${[...value].map(([name, item]) => `${JSON.stringify(name)}:${jsonText(item)}`).join(',')}}`;
  if (value instanceof Int32) return String(value.value);
  if (value instanceof BsonDate)
    return Math.abs(value.ms) <= maxDateMs
      ? `"${new Date(value.ms).toISOString()}"`
      : `{"$date":{"$numberLong":"${value.int64}"}}`;
  if (value instanceof Binary) return `"${Buffer.from(value.bytes).toString('base64')}"`;
  if (value instanceof Decimal128) return `"${decimalText(value)}"`;
  if (value instanceof ObjectId) return `"${value.toHex()}"`;
  if (value instanceof BsonSymbol) return JSON.stringify(value.value);
  if (value instanceof BsonUndefined) return 'null';
  const read: Document = deserialize(encodeBson(BsonDocument.of({ value })), {
    promoteValues: false,
    bsonRegExp: true,
  });
  return EJSON.stringify(read['value'], { relaxed: true });
}

/** Range of a Date; BSON dates have a larger one. */
const maxDateMs = 8_640_000_000_000_000;
