/** The first and last row of each row's window. Neither end ever moves back. */

import { compareValues } from '../../bson/compare.ts';
import {
  compareParts,
  type DecimalParts,
  decimalParts,
  partsOfNumber,
  partsOfUnits,
  unitsOf,
} from '../../bson/decimal.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import type { Unit } from '../../functions/dates/date-unit.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { Bound, WindowFrame } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { valueAt } from '../expressions/path.ts';
import { addTime } from './add-time.ts';
import { type Partition, sortPath } from './partition.ts';

/** The first row and the one after the last; equal if the window is empty. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Called once for each index, from 0 upwards. */
export function extents(frame: WindowFrame, partition: Partition): (index: number) => Extent {
  if (frame.k === 'range') return rangeExtents(frame, partition);
  const count = partition.documents.length;
  const [lower, upper] = [offset(frame.lower), offset(frame.upper)];
  return (index) => {
    const from = lower === undefined ? 0 : Math.min(Math.max(index + lower, 0), count);
    const to = upper === undefined ? count : Math.min(Math.max(index + upper + 1, 0), count);
    return { from, to: Math.max(from, to) };
  };
}

function offset(bound: Bound<number>): number | undefined {
  if (bound === 'unbounded') return undefined;
  return bound === 'current' ? 0 : bound;
}

function rangeExtents(frame: WindowFrame & { k: 'range' }, partition: Partition): (index: number) => Extent {
  const { lower, upper, unit } = frame;
  const path = sortPath(partition.by);
  const values = partition.documents.map((document) => checkRangeValue(valueAt(document, path), unit));
  let from = 0;
  let to = 0;
  return (index) => {
    const base = values[index]!;
    if (lower === 'current') from = index;
    else if (lower !== 'unbounded') {
      const compare = thresholdOf(base, lower.value as BsonValue, unit);
      while (from < values.length && compare(values[from]!) < 0) from++;
    }
    if (upper === 'current') to = index + 1;
    else if (upper === 'unbounded') to = values.length;
    else {
      const compare = thresholdOf(base, upper.value as BsonValue, unit);
      to = Math.max(to, from);
      while (to < values.length && compare(values[to]!) <= 0) to++;
    }
    return { from, to: Math.max(from, to) };
  };
}

/**
 * Where the range of a row begins and ends: its sort value plus a bound, compared exactly with the other rows' values. @throws QueryError
 * if the value cannot have a range.
 */
function checkRangeValue(value: Maybe, unit: Unit | undefined): BsonValue {
  if (unit !== undefined) {
    if (value instanceof BsonDate) return value;
    throw new QueryError(5429513, `a range with a unit needs dates to sort by, found ${typeName(value)}`);
  }
  if (value instanceof BsonDate) throw new QueryError(5429413, 'a range over dates needs a unit');
  if (isNumeric(value)) return value;
  throw new QueryError(5429414, `a range needs numbers to sort by, found ${typeName(value)}`);
}

/** Compares a row's value with `base + delta`: negative when the value is less. */
function thresholdOf(base: BsonValue, delta: BsonValue, unit: Unit | undefined): (value: BsonValue) => number {
  if (base instanceof BsonDate && unit !== undefined) {
    const limit = addTime(base.ms, unit, plain(delta));
    return (value) => (value as BsonDate).ms - limit;
  }
  const [a, b] = [wholeNumber(base), wholeNumber(delta)];
  if (a !== undefined && b !== undefined) return (value) => compareValues(value, a + b);
  const [left, right] = [partsOf(base), partsOf(delta)];
  if (left === undefined || right === undefined) {
    const limit = plain(base) + plain(delta);
    return (value) => compareValues(value, limit);
  }
  const limit = sum(left, right);
  return (value) => {
    const parts = value instanceof Decimal128 ? finite(value) : exact(value);
    return parts === undefined ? compareValues(value, 0) : compareParts(parts, limit);
  };
}

function plain(value: BsonValue): number {
  return isNumeric(value) ? toDouble(value) : Number.NaN;
}

/** Numbers whose sums are exact as doubles. */
function wholeNumber(value: BsonValue): number | undefined {
  const number = value instanceof Int32 ? value.value : value;
  return typeof number === 'number' && Number.isInteger(number) && Math.abs(number) < 2 ** 51 ? number : undefined;
}

/** Takes the first 15 digits of a double, so that 0.1 + 0.2 is 0.3. */
function partsOf(value: BsonValue): DecimalParts | undefined {
  if (value instanceof Decimal128) return finite(value);
  const number = value instanceof Int32 ? value.value : value;
  if (typeof number === 'bigint') return partsOfNumber(number);
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  const [digits, exponent] = number.toExponential(14).split('e') as [string, string];
  return partsOfUnits(BigInt(digits.replace('.', '')), Number(exponent) - 14);
}

function finite(value: Decimal128): DecimalParts | undefined {
  const parts = decimalParts(value);
  return parts.kind === 'finite' ? parts : undefined;
}

function exact(value: BsonValue): DecimalParts | undefined {
  const number = value instanceof Int32 ? value.value : value;
  if (typeof number === 'bigint') return partsOfNumber(number);
  return typeof number === 'number' && Number.isFinite(number) ? partsOfNumber(number) : undefined;
}

function sum(left: DecimalParts, right: DecimalParts): DecimalParts {
  const exponent = Math.min(left.exponent, right.exponent);
  return partsOfUnits(unitsOf(left, exponent) + unitsOf(right, exponent), exponent);
}
