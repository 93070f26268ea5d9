import { BsonDate, BsonDocument, type BsonValue } from '@platform/query';

/** Converts JavaScript values to BSON: a Date to a date, a number to a double, an object to a document. */
export function bsonOf(value: unknown): BsonValue {
  if (value instanceof Date) return new BsonDate(value.getTime());
  if (Array.isArray(value)) return value.map(bsonOf);
  if (typeof value === 'object' && value !== null)
    return new BsonDocument(Object.entries(value).map(([name, member]) => [name, bsonOf(member)]));
  return value as BsonValue;
}
