/** $abs, $ceil, $floor, $round, $trunc. */

import { decimalDigits, decimalNan, decimalParts, encodeDecimal, partsOfNumber } from '../../bson/decimal.ts';
import { quantized, type Rounding, withDigits } from '../../bson/decimal-arithmetic.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import type { Decimal128, Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { named, ofWidestType } from '../../sql/types/signature.ts';
import { eager, type Functions } from '../definition.ts';
import { isDecimal, isFiniteNumber, isNan, plainNumber, toBigInt, wholeResult } from './number.ts';

export const rounding: Functions = {
  'agg.abs': eager({ mql: 1, sql: named(ofWidestType, ['ABS', 1, 1]), size: 'bounded' }, absolute),
  'agg.ceil': eager({ mql: 1, sql: named(ofWidestType, ['CEIL', 1, 1], ['CEILING', 1, 1]), size: 'bounded' }, (value) =>
    toWhole(value, '$ceil', Math.ceil, 'ceil'),
  ),
  'agg.floor': eager(
    { mql: 1, sql: named(ofWidestType, ['FLOOR', 1, 1]), size: 'bounded', folding: 'early' },
    (value) => toWhole(value, '$floor', Math.floor, 'floor'),
  ),
  'agg.round': eager({ mql: [1, 2], sql: named(ofWidestType, ['ROUND', 1, 1]), size: 'bounded' }, (...args) =>
    toPlace(args, '$round'),
  ),
  'agg.trunc': eager({ mql: [1, 2], size: 'bounded', folding: 'early' }, (...args) => toPlace(args, '$trunc')),
};

function notNumeric(value: Maybe, name: string, code: number): QueryError {
  return new QueryError(code, `${name} only supports numeric types, not ${typeName(value)}`);
}

function absolute(value: Maybe): Maybe {
  if (isNullish(value)) return null;
  if (typeof value === 'number') return Math.abs(value);
  if (!isNumeric(value)) throw notNumeric(value, '$abs', 28765);
  if (isDecimal(value)) return encodeDecimal({ ...decimalParts(value), negative: false });
  const whole = toBigInt(value);
  const result = wholeResult(whole < 0n ? -whole : whole, typeof value === 'bigint');
  if (result === undefined) throw new QueryError(28680, "can't take $abs of the smallest int64");
  return result;
}

/** Integers are unchanged; an infinite decimal, or one of more than 34 digits, gives NaN. */
function toWhole(value: Maybe, name: string, round: (value: number) => number, how: Rounding): Maybe {
  if (typeof value === 'number') return round(value);
  if (isNullish(value)) return null;
  if (!isNumeric(value)) throw notNumeric(value, name, 28765);
  if (!isDecimal(value)) return value;
  return isFiniteNumber(value) ? quantized(value, 0, how) : decimalNan;
}

export function toPlace(args: readonly Maybe[], name: '$round' | '$trunc'): Maybe {
  const [value, place] = args;
  if (isNullish(value)) return null;
  if (!isNumeric(value)) throw notNumeric(value, name, 51081);
  if (args.length > 1 && isNullish(place)) return null;
  const digits = args.length > 1 ? decimalPlace(place, name) : 0;
  const halfEven = name === '$round';
  if (typeof value === 'number') return roundDouble(value, digits, halfEven);
  if (isDecimal(value)) return roundDecimal(value, digits, halfEven);
  if (digits >= 0) return value;
  const unit = 10n ** BigInt(-digits);
  const whole = toBigInt(value);
  const rest = whole % unit;
  let result = whole - rest;
  if (halfEven) {
    const twice = (rest < 0n ? -rest : rest) * 2n;
    if (twice > unit || (twice === unit && (result / unit) % 2n !== 0n)) result += rest < 0n ? -unit : unit;
  }
  const rounded = wholeResult(result, typeof value === 'bigint');
  if (rounded === undefined) throw new QueryError(51080, `the result of ${name} does not fit into 64 bits`);
  return rounded;
}

function decimalPlace(place: Maybe, name: string): number {
  if (!isNumeric(place)) {
    throw new QueryError(16004, `the place of ${name} must be a whole number, found ${typeName(place)}`);
  }
  const digits = Number(plainNumber(place, name, 51082));
  const found = `the place of ${name} must be a whole number, found ${digits}`;
  if (!Number.isFinite(digits)) throw new QueryError(isDecimal(place) ? 51082 : 31109, found);
  if (!Number.isInteger(digits)) throw new QueryError(51082, found);
  if (digits < -20 || digits > 100)
    throw new QueryError(51083, `the place of ${name} is from -20 to 100, found ${digits}`);
  return digits;
}

function roundDecimal(value: Decimal128, digits: number, halfEven: boolean): Maybe {
  const rounded = quantized(value, -digits, halfEven ? 'halfEven' : 'down');
  // 34 digits leave no room for more places.
  return isNan(rounded) && !isNan(value) ? encodeDecimal(withDigits(decimalParts(value), decimalDigits)) : rounded;
}

/** Exact: the finite decimal number that the double represents is rounded (half to even) or cut off. */
function roundDouble(value: number, digits: number, halfEven: boolean): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const { negative, coefficient, exponent } = partsOfNumber(value);
  if (exponent >= -digits) return value;
  const unit = 10n ** BigInt(-digits - exponent);
  let kept = coefficient / unit;
  const twice = (coefficient % unit) * 2n;
  if (halfEven && (twice > unit || (twice === unit && kept % 2n === 1n))) kept++;
  return Number(`${negative ? '-' : ''}${kept}e${-digits}`);
}
