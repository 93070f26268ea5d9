/** Rounds the bounds of buckets to a series: to the next number above or below a value. */

import { isNumeric, typeName } from '../../bson/type.ts';
import { type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import { QueryError } from '../../query-error.ts';
import { series } from './series.ts';

export interface Rounder {
  /** The least number of the series that is greater; zero stays. */
  readonly up: (value: Maybe) => BsonValue;
  /** The greatest number of the series that is less; zero stays. */
  readonly down: (value: Maybe) => BsonValue;
}

export function newRounder(granularity: string): Rounder {
  const decade = series[granularity];
  const [up, down] = decade === undefined ? [powerAbove, powerBelow] : [above(decade), below(decade)];
  const rounded = (value: Maybe, round: (number: number) => number): BsonValue => {
    const number = checked(value);
    if (number === 0) return value ?? null;
    return decade === undefined ? power(round(number)) : round(number);
  };
  return { up: (value) => rounded(value, up), down: (value) => rounded(value, down) };
}

function checked(value: Maybe): number {
  if (!isNumeric(value)) {
    throw new QueryError(40258, `$bucketAuto with a granularity takes numbers, found ${typeName(value)}`);
  }
  const number = toDouble(value);
  if (Number.isNaN(number)) throw new QueryError(40259, '$bucketAuto with a granularity takes numbers, found NaN');
  if (number < 0) throw new QueryError(40260, `$bucketAuto with a granularity takes no negative numbers: ${number}`);
  return number;
}

/** Powers of two from 1 to below 2^63 are integers, of the width that they need. */
function power(number: number): BsonValue {
  if (number < 1 || number >= 2 ** 63) return number;
  return number < 2 ** 31 ? new Int32(number) : BigInt(number);
}

function powerAbove(number: number): number {
  return 2 ** (Math.floor(Math.log2(number)) + 1);
}

function powerBelow(number: number): number {
  return 2 ** (Math.ceil(Math.log2(number)) - 1);
}

function above(decade: readonly number[]): (number: number) => number {
  const [first, last] = [decade[0]!, decade.at(-1)!];
  return (number) => {
    if (number === Number.POSITIVE_INFINITY) return number;
    let scale = 1;
    while (number >= last * scale) scale *= 10;
    while (number < first * scale) {
      const next = first * scale;
      scale /= 10;
      if (number >= last * scale) return next;
    }
    return decade.find((each) => each * scale > number)! * scale;
  };
}

function below(decade: readonly number[]): (number: number) => number {
  const [first, last] = [decade[0]!, decade.at(-1)!];
  return (number) => {
    if (number === Number.POSITIVE_INFINITY) return number;
    let scale = 1;
    while (number <= first * scale) scale /= 10;
    while (number > last * scale) {
      const next = last * scale;
      scale *= 10;
      if (number <= first * scale) return next;
    }
    return decade.findLast((each) => each * scale < number)! * scale;
  };
}
