/** $toHashedIndexKey: the int64 that represents a value in MongoDB's hashed indexes. */

import { createHash, type Hash } from 'node:crypto';
import { encodeBson } from '../../bson/encode.ts';
import { isNumeric, typeRank } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Code } from '../../bson/value.ts';
import { call } from '../../plan/expr.ts';
import { roundHalfAway } from '../dates/date-value.ts';
import type { Functions } from '../definition.ts';
import { isNan, maxLong, minLong, type Numeric, signOf } from '../numbers/number.ts';

export const hashedKey: Functions = {
  'agg.toHashedIndexKey': {
    // A list is a single value here.
    mql: (operand, { at, parse }) => call('agg.toHashedIndexKey', [parse(operand)], at),
    eager: (value) => {
      const hash = createHash('md5').update(int32(seed));
      addValue(hash, value ?? null);
      return hash.digest().readBigInt64LE();
    },
  },
};

const seed = 0;
/** The end of a document counts as an element of rank 0 without a name. */
const endOfDocument = 0;

function addValue(hash: Hash, value: BsonValue, name?: string): void {
  hash.update(int32(typeRank(value)));
  if (name !== undefined) hash.update(`${name}\0`);
  if (isNumeric(value)) hash.update(int64(wholeOf(value)));
  else if (value instanceof BsonDocument) addFields(hash, value);
  else if (Array.isArray(value)) addFields(hash, value.entries());
  else if (value instanceof Code && value.scope !== undefined) addFields(hash.update(`${value.code}\0`), value.scope);
  else hash.update(bytesOf(value));
}

function addFields(hash: Hash, fields: Iterable<readonly [string | number, BsonValue]>): void {
  for (const [name, value] of fields) addValue(hash, value, String(name));
  hash.update(int32(endOfDocument));
}

/** As BSON without type and name. */
function bytesOf(value: BsonValue): Uint8Array {
  return encodeBson(new BsonDocument([['', value]])).subarray(6, -1);
}

/**
 * Numbers of all types are treated alike: doubles lose their fraction, numbers beyond 64 bits become the nearest valid one, NaN becomes 0.
 */
function wholeOf(value: Numeric): bigint {
  if (isNan(value)) return 0n;
  // The reference converts 2^63 as a double to the least number.
  if (value === 2 ** 63) return minLong;
  const whole =
    roundHalfAway(typeof value === 'number' ? Math.trunc(value) : value) ?? BigInt(signOf(value)) * 2n ** 64n;
  return whole > maxLong ? maxLong : whole < minLong ? minLong : whole;
}

function int32(value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer);
}

function int64(value: bigint): Uint8Array {
  return new Uint8Array(BigInt64Array.of(value).buffer);
}
