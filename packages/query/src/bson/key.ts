/** The key of hash tables: a text that is equal for two values exactly when they compare as equal. */

import { decimalParts } from './decimal.ts';
import { typeName, typeRank } from './type.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  Code,
  DbPointer,
  Decimal128,
  hexOf,
  Int32,
  type Maybe,
  ObjectId,
  Regex,
  Timestamp,
} from './value.ts';

export function valueKey(value: Maybe): string {
  if (typeof value === 'string') return `s${value.length}:${value}`;
  if (typeof value === 'number') return numberKey(value);
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value === null) return 'z';
  if (value === undefined) return 'u';
  if (value instanceof Int32) return `n${value.value};`;
  if (typeof value === 'bigint') return `n${value};`;
  if (value instanceof BsonDocument) {
    let key = '{';
    for (const [name, field] of value) key += `${name.length}:${name}${valueKey(field)}`;
    return `${key}}`;
  }
  if (Array.isArray(value)) return `[${value.map(valueKey).join('')}]`;
  if (value instanceof BsonDate) return `d${value.ms};`;
  if (value instanceof ObjectId) return `o${value.toHex()}`;
  if (value instanceof Decimal128) return decimalKey(value);
  if (value instanceof BsonSymbol) return `s${value.value.length}:${value.value}`;
  if (value instanceof Binary) return `b${value.subtype},${hexOf(value.bytes)};`;
  if (value instanceof Regex) return `r${valueKey(value.pattern)}${valueKey(value.options)}`;
  if (value instanceof Timestamp) return `T${value.value};`;
  if (value instanceof Code) return `c${valueKey(value.code)}${valueKey(value.scope)}`;
  if (value instanceof DbPointer) return `p${valueKey(value.namespace)}${value.id.toHex()}`;
  return typeName(value) === 'undefined' ? 'u' : `k${typeRank(value)};`;
}

/** Whole numbers of every type share one spelling; -0 is 0. */
function numberKey(value: number): string {
  if (Number.isSafeInteger(value)) return `n${value + 0 === 0 ? 0 : value};`;
  return Number.isInteger(value) ? `n${BigInt(value)};` : `n${value};`;
}

/** A decimal that equals a double gets the double's key; any other one gets its shortest digits. */
function decimalKey(value: Decimal128): string {
  const parts = decimalParts(value);
  if (parts.kind === 'nan') return numberKey(Number.NaN);
  if (parts.kind === 'infinite') return numberKey(parts.negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  let { coefficient, exponent } = parts;
  if (coefficient === 0n) return 'n0;';
  while (coefficient % 10n === 0n) {
    coefficient /= 10n;
    exponent++;
  }
  const sign = parts.negative ? '-' : '';
  if (exponent >= 0 && exponent < 40) return `n${sign}${coefficient * 10n ** BigInt(exponent)};`;
  const nearest = Number(`${sign}${coefficient}e${exponent}`);
  const five = 5n ** BigInt(Math.max(0, -exponent));
  // Equal to a double only if the denominator is a power of two.
  if (exponent < 0 && coefficient % five === 0n) return numberKey(nearest);
  return `n${sign}${coefficient}e${exponent};`;
}
