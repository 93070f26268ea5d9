/** $abs, $ceil, $floor, $round, $trunc, $sqrt. */

import { partsOfNumber } from '../../bson/decimal.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { plainNumber, wholeResult } from './number.ts';
import type { Eager } from './registry.ts';

export const rounding: Readonly<Record<string, Eager>> = {
  'agg.abs': absolute,
  'agg.ceil': (value) => onDouble(value, '$ceil', Math.ceil),
  'agg.floor': (value) => onDouble(value, '$floor', Math.floor),
  'agg.round': (...args) => toPlace(args, '$round'),
  'agg.trunc': (...args) => toPlace(args, '$trunc'),
  'agg.sqrt': (value) => {
    if (isNullish(value)) return null;
    const number = Number(number28765(value, '$sqrt'));
    if (number < 0) throw new QueryError(28714, '$sqrt takes numbers that are not negative');
    return Math.sqrt(number);
  },
};

function number28765(value: Maybe, name: string): number | bigint {
  if (!isNumeric(value)) throw new QueryError(28765, `${name} only supports numeric types, not ${typeName(value)}`);
  return plainNumber(value, name, 28765);
}

function absolute(value: Maybe): Maybe {
  if (isNullish(value)) return null;
  const number = number28765(value, '$abs');
  if (typeof value === 'number') return Math.abs(value);
  const whole = BigInt(number);
  const result = wholeResult(whole < 0n ? -whole : whole, typeof value === 'bigint');
  if (result === undefined) throw new QueryError(28680, "can't take $abs of the least int64");
  return result;
}

/** Integers stay as they are. */
function onDouble(value: Maybe, name: string, round: (value: number) => number): Maybe {
  if (isNullish(value)) return null;
  number28765(value, name);
  return typeof value === 'number' ? round(value) : value;
}

function toPlace(args: readonly Maybe[], name: '$round' | '$trunc'): Maybe {
  if (args.some(isNullish)) return null;
  const [value, place] = args;
  if (!isNumeric(value)) throw new QueryError(51081, `${name} only supports numeric types, not ${typeName(value)}`);
  const number = plainNumber(value, name, 51081);
  const digits = place === undefined ? 0 : decimalPlace(place, name);
  if (typeof value === 'number') return roundDouble(value, digits, name === '$round');
  if (digits >= 0) return value;
  const unit = 10n ** BigInt(-digits);
  const whole = BigInt(number);
  const rest = whole % unit;
  let result = whole - rest;
  if (name === '$round') {
    const twice = (rest < 0n ? -rest : rest) * 2n;
    if (twice > unit || (twice === unit && (result / unit) % 2n !== 0n)) result += rest < 0n ? -unit : unit;
  }
  const rounded = wholeResult(result, typeof value === 'bigint');
  if (rounded === undefined) throw new QueryError(51080, `the result of ${name} does not fit into 64 bits`);
  return rounded;
}

function decimalPlace(place: Maybe, name: string): number {
  if (!isNumeric(place))
    throw new QueryError(16004, `the place of ${name} must be a whole number, found ${typeName(place)}`);
  const digits = Number(plainNumber(place, name, 51082));
  if (!Number.isFinite(digits))
    throw new QueryError(31109, `the place of ${name} must be a whole number, found ${digits}`);
  if (!Number.isInteger(digits))
    throw new QueryError(51082, `the place of ${name} must be a whole number, found ${digits}`);
  if (digits < -20 || digits > 100)
    throw new QueryError(51083, `the place of ${name} is from -20 to 100, found ${digits}`);
  return digits;
}

/** Exact: a double is a finite decimal number, and it is that number which is rounded (half to even) or cut off. */
function roundDouble(value: number, digits: number, round: boolean): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const { negative, coefficient, exponent } = partsOfNumber(value);
  if (exponent >= -digits) return value;
  const unit = 10n ** BigInt(-digits - exponent);
  let kept = coefficient / unit;
  const twice = (coefficient % unit) * 2n;
  if (round && (twice > unit || (twice === unit && kept % 2n === 1n))) kept++;
  return Number(`${negative ? '-' : ''}${kept}e${-digits}`);
}
