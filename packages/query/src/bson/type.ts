/** Type numbers, type names and the order of types, as MongoDB defines them. */

import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  MaxKey,
  type Maybe,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from './value.ts';

/** BSON type numbers by the alias that `$type` uses. */
export const typeNumbers = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binData: 5,
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  regex: 11,
  dbPointer: 12,
  javascript: 13,
  symbol: 14,
  javascriptWithScope: 15,
  int: 16,
  timestamp: 17,
  long: 18,
  decimal: 19,
  minKey: -1,
  maxKey: 127,
} as const;

export type TypeName = keyof typeof typeNumbers | 'missing';

/** The alias of a value's type; `missing` for an absent value. */
export function typeName(value: Maybe): TypeName {
  switch (typeof value) {
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'long';
    case 'undefined':
      return 'missing';
  }
  if (value === null) return 'null';
  if (value instanceof Int32) return 'int';
  if (value instanceof BsonDocument) return 'object';
  if (Array.isArray(value)) return 'array';
  if (value instanceof BsonDate) return 'date';
  if (value instanceof ObjectId) return 'objectId';
  if (value instanceof Decimal128) return 'decimal';
  if (value instanceof Binary) return 'binData';
  if (value instanceof Regex) return 'regex';
  if (value instanceof Timestamp) return 'timestamp';
  if (value instanceof BsonSymbol) return 'symbol';
  if (value instanceof Code) return value.scope === undefined ? 'javascript' : 'javascriptWithScope';
  if (value instanceof DbPointer) return 'dbPointer';
  if (value instanceof MinKey) return 'minKey';
  if (value instanceof MaxKey) return 'maxKey';
  if (value instanceof BsonUndefined) return 'undefined';
  throw new TypeError(`not a BSON value: ${String(value)}`);
}

const ranks: Readonly<Record<TypeName, number>> = {
  minKey: -1,
  missing: 0,
  undefined: 0,
  null: 5,
  double: 10,
  int: 10,
  long: 10,
  decimal: 10,
  string: 15,
  symbol: 15,
  object: 20,
  array: 25,
  binData: 30,
  objectId: 35,
  bool: 40,
  date: 45,
  timestamp: 47,
  regex: 50,
  dbPointer: 55,
  javascript: 60,
  javascriptWithScope: 65,
  maxKey: 127,
};

/** The position of a value's type in the order of types; equal for types that compare with each other (all numbers). */
export function typeRank(value: Maybe): number {
  if (typeof value === 'number') return 10;
  if (typeof value === 'string') return 15;
  return ranks[typeName(value)];
}

export function isNumeric(value: Maybe): value is number | bigint | Int32 | Decimal128 {
  return (
    typeof value === 'number' || value instanceof Int32 || typeof value === 'bigint' || value instanceof Decimal128
  );
}

/** Whether the value is null, missing or the deprecated undefined, which most expressions treat alike. */
export function isNullish(value: Maybe): boolean {
  return value === undefined || value === null || value instanceof BsonUndefined;
}
