/** Converts documents to what machines can send: every value has a type of google.protobuf.Struct. */
import { BsonDate, BsonDocument, type BsonValue, Decimal128, decimalToNumber, Int32 } from '@platform/query';
import { encodeExtended } from '../extended-json/encode.ts';

/** Numbers of any type become doubles, any other value its Extended JSON as text; names and nesting stay. */
export function asReading(document: BsonDocument): BsonDocument {
  return new BsonDocument([...document].map(([name, value]): [string, BsonValue] => [name, plainer(value)]));
}

function plainer(value: BsonValue): BsonValue {
  if (value instanceof BsonDocument) return asReading(value);
  if (Array.isArray(value)) return value.map(plainer);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  if (value instanceof Decimal128) return decimalToNumber(value);
  if (value instanceof BsonDate) return value.ms;
  return encodeExtended(BsonDocument.of({ value }));
}
