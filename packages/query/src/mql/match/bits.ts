/** The bit positions for $bitsAllSet, $bitsAllClear, $bitsAnySet and $bitsAnyClear: a number, bytes, or a list. */

import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { Binary, type BsonValue, type Decimal128, Int32 } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import { malformed, QueryError } from '../../query-error.ts';

export function parseBitPositions(value: BsonValue, name: string, at: string): Int32[] {
  if (Array.isArray(value)) return value.map((item) => new Int32(positionOf(item, name, at)));
  if (value instanceof Binary) {
    return [...value.bytes].flatMap((byte, index) => setBits(BigInt(byte)).map((bit) => new Int32(index * 8 + bit)));
  }
  if (!isNumeric(value)) {
    throw new QueryError('BadValue', `${name} takes a number, bytes or an array, found ${describe(value)}`, {
      path: at,
    });
  }
  const mask = wholeOf(value, name, at);
  if (mask < 0n) throw malformed(`${name} takes no negative numbers, found ${mask}`, { path: at });
  return setBits(mask).map((bit) => new Int32(bit));
}

function positionOf(value: BsonValue, name: string, at: string): number {
  if (!isNumeric(value)) throw malformed(`${name} takes positions of bits, found ${describe(value)}`, { path: at });
  const position = wholeOf(value, name, at);
  if (position < 0n || position >= 2n ** 31n)
    throw malformed(`${name} knows no bit at position ${position}`, { path: at });
  return Number(position);
}

function wholeOf(value: number | bigint | Int32 | Decimal128, name: string, at: string): bigint {
  if (typeof value === 'bigint') return value;
  const number = toDouble(value);
  if (Number.isInteger(number) && Math.abs(number) < 2 ** 63) return BigInt(number);
  throw malformed(`${name} takes whole numbers of 64 bits, found ${number}`, { path: at });
}

function setBits(mask: bigint): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < 64; bit++) if ((mask >> BigInt(bit)) & 1n) bits.push(bit);
  return bits;
}
