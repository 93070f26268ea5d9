/** BSON documents from JavaScript objects, as queries are written: integers become int32, a Date becomes a date. */
import { BsonDate, BsonDocument, type BsonValue, Int32 } from '@platform/query';

export type Written = unknown;

export function bson(value: Written): BsonValue {
  if (value instanceof Date) return new BsonDate(value.getTime());
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0))
    return new Int32(value);
  if (Array.isArray(value)) return value.map(bson);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value as BsonValue;
  return document(value as Record<string, Written>);
}

export function document(fields: Readonly<Record<string, Written>>): BsonDocument {
  return new BsonDocument(Object.entries(fields).map(([name, value]): [string, BsonValue] => [name, bson(value)]));
}
