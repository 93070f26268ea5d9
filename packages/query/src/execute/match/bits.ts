/** $bitsAllSet and similar operators over numbers, whose sign bit continues forever, and bytes, after which all bits are clear. */

import { isNumeric } from '../../bson/type.ts';
import { Binary, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';

export type BitsTest = 'bitsAllSet' | 'bitsAllClear' | 'bitsAnySet' | 'bitsAnyClear';

export function bitsTest(test: BitsTest, positions: readonly number[]): (value: Maybe) => boolean {
  return (value) => {
    const isSet = bitsOf(value);
    if (isSet === undefined) return false;
    switch (test) {
      case 'bitsAllSet':
        return positions.every(isSet);
      case 'bitsAllClear':
        return !positions.some(isSet);
      case 'bitsAnySet':
        return positions.some(isSet);
      case 'bitsAnyClear':
        return !positions.every(isSet);
    }
  };
}

function bitsOf(value: Maybe): ((position: number) => boolean) | undefined {
  if (value instanceof Binary) {
    return (position) => (((value.bytes[position >> 3] ?? 0) >> (position & 7)) & 1) === 1;
  }
  const whole = wholeOf(value);
  if (whole === undefined) return undefined;
  return (position) => ((whole >> BigInt(Math.min(position, 63))) & 1n) === 1n;
}

/** A number without a fraction that fits into 64 bits. */
function wholeOf(value: Maybe): bigint | undefined {
  if (!isNumeric(value)) return undefined;
  if (typeof value === 'bigint') return value;
  const number = toDouble(value);
  return Number.isInteger(number) && number >= -(2 ** 63) && number < 2 ** 63 ? BigInt(number) : undefined;
}
