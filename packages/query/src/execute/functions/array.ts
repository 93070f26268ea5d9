/** $size, $arrayElemAt, $in, $slice, $isArray, and arrays that are written in a query. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { plainNumber } from './number.ts';
import type { Eager } from './registry.ts';

export const array: Readonly<Record<string, Eager>> = {
  'agg.array': (...values) => values.map((value) => value ?? null),
  'agg.isArray': (value) => Array.isArray(value),
  'agg.size': (value) => {
    if (!Array.isArray(value))
      throw new QueryError(17124, `the argument to $size must be an array, but was of type: ${typeName(value)}`);
    return new Int32(value.length);
  },
  'agg.arrayElemAt': (value, index) => {
    if (isNullish(value) || isNullish(index)) return null;
    if (!Array.isArray(value))
      throw new QueryError(28689, `$arrayElemAt's first argument must be an array, but is ${typeName(value)}`);
    return value.at(position(index, '$arrayElemAt', 28690, 28691));
  },
  'agg.in': (value, list) => {
    if (!Array.isArray(list))
      throw new QueryError(40081, `$in requires an array as a second argument, found: ${typeName(list)}`);
    return list.some((item) => compareValues(item, value) === 0);
  },
  'agg.slice': slice,
};

function position(value: Maybe, name: string, notNumber: number, notWhole: number): number {
  if (!isNumeric(value)) throw new QueryError(notNumber, `${name} takes a number as a place, found ${typeName(value)}`);
  const number = Number(plainNumber(value, name, notNumber));
  if (number !== (number | 0))
    throw new QueryError(notWhole, `${name} takes a 32-bit whole number as a place, found ${number}`);
  return number;
}

function slice(...args: Maybe[]): Maybe {
  if (args.some(isNullish)) return null;
  const [value, second, third] = args;
  if (!Array.isArray(value))
    throw new QueryError(28724, `the first argument to $slice must be an array, but is of type: ${typeName(value)}`);
  const first = position(second, '$slice', 28725, 28726);
  if (args.length === 2) return first >= 0 ? value.slice(0, first) : value.slice(first);
  const count = position(third, '$slice', 28727, 28728);
  if (count <= 0) throw new QueryError(28729, `the third argument to $slice must be positive: ${count}`);
  const start = first < 0 ? Math.max(0, value.length + first) : first;
  return value.slice(start, start + count);
}
