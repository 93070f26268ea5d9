/** The BSON order of all values, used by sorting, comparing and grouping. */

import { compareParts, decimalParts, decimalToNumber, partsOfNumber } from './decimal.ts';
import { isNumeric, typeRank } from './type.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  type Maybe,
  ObjectId,
  Regex,
  Timestamp,
} from './value.ts';

/** Negative, zero or positive; missing comes before null, numbers compare by value across their types. */
export function compareValues(left: Maybe, right: Maybe): number {
  if (typeof left === 'number' && typeof right === 'number') return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (left instanceof BsonDate && right instanceof BsonDate) return left.ms - right.ms;
  const rank = typeRank(left) - typeRank(right);
  if (rank !== 0) return rank;
  return compareSameRank(left, right);
}

/** Whether each comparison holds for the order of two values. */
export const comparisons: Readonly<Record<'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte', (order: number) => boolean>> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
};

function compareSameRank(left: Maybe, right: Maybe): number {
  if (isNumeric(left) && isNumeric(right)) return compareNumerics(left, right);
  if (isText(left) && isText(right)) return compareText(text(left), text(right));
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof BsonDocument && right instanceof BsonDocument) return compareDocuments(left, right);
  if (Array.isArray(left) && Array.isArray(right)) return compareArrays(left, right);
  if (left instanceof ObjectId && right instanceof ObjectId) return compareBytes(left.bytes, right.bytes);
  if (left instanceof Binary && right instanceof Binary) {
    return (
      left.bytes.length - right.bytes.length || left.subtype - right.subtype || compareBytes(left.bytes, right.bytes)
    );
  }
  if (left instanceof Timestamp && right instanceof Timestamp) return order(left.value, right.value);
  if (left instanceof Regex && right instanceof Regex) {
    return compareText(left.pattern, right.pattern) || compareText(left.options, right.options);
  }
  if (left instanceof Code && right instanceof Code) {
    return compareText(left.code, right.code) || compareValues(left.scope, right.scope);
  }
  if (left instanceof DbPointer && right instanceof DbPointer) {
    return compareText(left.namespace, right.namespace) || compareBytes(left.id.bytes, right.id.bytes);
  }
  return 0;
}

type Numeric = number | bigint | Int32 | Decimal128;

function isText(value: Maybe): value is string | BsonSymbol {
  return typeof value === 'string' || value instanceof BsonSymbol;
}

function text(value: string | BsonSymbol): string {
  return typeof value === 'string' ? value : value.value;
}

function order(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareNumerics(left: Numeric, right: Numeric): number {
  if (left instanceof Decimal128 || right instanceof Decimal128) return compareDecimals(left, right);
  return compareNumbers(left instanceof Int32 ? left.value : left, right instanceof Int32 ? right.value : right);
}

/** JavaScript compares a bigint with a double exactly; NaN is equal to itself and below all numbers. */
function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (left < right) return -1;
  if (left > right) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: only == makes a bigint equal to a double of the same value
  if (left == right) return 0;
  return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
}

function compareDecimals(left: Numeric, right: Numeric): number {
  const a = nearest(left);
  const b = nearest(right);
  // If they are far apart or NaN, the nearest doubles decide; only close neighbours need exact digits.
  if (a !== b) return compareNumbers(a, b);
  const [leftFinite, rightFinite] = [isFiniteNumber(left), isFiniteNumber(right)];
  if (leftFinite && rightFinite) return compareParts(exact(left), exact(right));
  // A decimal beyond all doubles is still nearer to zero than infinity.
  return (Number(rightFinite) - Number(leftFinite)) * Math.sign(a);
}

function isFiniteNumber(value: Numeric): boolean {
  if (value instanceof Decimal128) return decimalParts(value).kind === 'finite';
  return typeof value !== 'number' || Number.isFinite(value);
}

function nearest(value: Numeric): number {
  return value instanceof Decimal128 ? decimalToNumber(value) : Number(value instanceof Int32 ? value.value : value);
}

function exact(value: Numeric): ReturnType<typeof decimalParts> {
  if (value instanceof Decimal128) return decimalParts(value);
  return partsOfNumber(value instanceof Int32 ? value.value : value);
}

/** The order of UTF-8 bytes, which is that of code points; UTF-16 units differ from it only at surrogates. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    const aSurrogate = a >= 0xd800 && a <= 0xdfff;
    const bSurrogate = b >= 0xd800 && b <= 0xdfff;
    if (aSurrogate !== bSurrogate) {
      if (aSurrogate) return b >= 0xe000 ? 1 : a - b;
      return a >= 0xe000 ? -1 : a - b;
    }
    return a - b;
  }
  return left.length - right.length;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = left[at]! - right[at]!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Field by field: type first, then name, then value. A document that is a prefix of another is smaller. */
function compareDocuments(left: BsonDocument, right: BsonDocument): number {
  const others = right.entries();
  for (const [key, value] of left) {
    const next = others.next();
    if (next.done) return 1;
    const [otherKey, other]: [string, BsonValue] = next.value;
    const difference = typeRank(value) - typeRank(other) || compareText(key, otherKey) || compareValues(value, other);
    if (difference !== 0) return difference;
  }
  return left.size - right.size;
}

function compareArrays(left: BsonValue[], right: BsonValue[]): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = compareValues(left[at], right[at]);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
