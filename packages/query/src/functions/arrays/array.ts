import { isNullish, typeName } from '../../bson/type.ts';
import { type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { anything, arrayOf, either, kindOf, maybeMissing, wholeNumbers } from '../../sql/types/kind.ts';
import { atLeast, eager, type Functions } from '../definition.ts';
import { requireInt32 } from '../numbers/whole-int32.ts';

export const array: Functions = {
  'agg.array': eager(
    {
      sql: { gives: (items) => (items.length === 0 ? kindOf('array') : arrayOf(items.reduce(either))) },
      size: 'grows',
      neverFails: true,
      folding: 'early',
    },
    (...values) => values.map((value) => value ?? null),
  ),
  'agg.isArray': eager({ mql: 1, size: 'bounded', numberTypes: 'none' }, (value) => Array.isArray(value)),
  'agg.size': eager({ mql: 1, size: 'bounded', numberTypes: 'int' }, (value) => {
    if (!Array.isArray(value))
      throw new QueryError(17124, `the argument to $size must be an array, but was of type: ${typeName(value)}`);
    return new Int32(value.length);
  }),
  'agg.arrayElemAt': {
    mql: 2,
    sql: {
      takes: [['array'], wholeNumbers],
      gives: ([array]) => (array?.items === undefined ? anything : maybeMissing(array.items)),
    },
    size: 'bounded',
    numberTypes: (args) => args.slice(0, 1),
    eager: (value, index) => {
      if (isNullish(value) || isNullish(index)) return null;
      if (!Array.isArray(value))
        throw new QueryError(28689, `$arrayElemAt's first argument must be an array, but is ${typeName(value)}`);
      return value.at(requireInt32(index, 'the place that $arrayElemAt takes', 28691, 28690));
    },
  },
  'agg.first': eager({ mql: 1 }, (value) => endOf(value, '$first', 0)),
  'agg.last': eager({ mql: 1 }, (value) => endOf(value, '$last', -1)),
  'agg.slice': eager({ mql: [2, 3], size: 'grows' }, slice),
  'agg.concatArrays': eager({ mql: atLeast(0), size: 'grows' }, (...values) => {
    const all: BsonValue[] = [];
    for (const value of values) {
      if (isNullish(value)) return null;
      if (!Array.isArray(value)) throw new QueryError(28664, `$concatArrays only takes arrays, not ${typeName(value)}`);
      for (const item of value) all.push(item);
    }
    return all;
  }),
  'agg.reverseArray': eager({ mql: 1, size: 'grows' }, (value) => {
    if (isNullish(value)) return null;
    if (!Array.isArray(value))
      throw new QueryError(
        34435,
        `the argument to $reverseArray must be an array, but was of type: ${typeName(value)}`,
      );
    return value.toReversed();
  }),
};

/** Missing if the array is empty. */
function endOf(value: Maybe, name: string, index: 0 | -1): Maybe {
  if (isNullish(value)) return null;
  if (!Array.isArray(value))
    throw new QueryError(28689, `${name}'s argument must be an array, but is ${typeName(value)}`);
  return value.at(index);
}

export function slice(...args: Maybe[]): Maybe {
  const [value, second, third] = args;
  if (isNullish(value) || isNullish(second)) return null;
  if (!Array.isArray(value))
    throw new QueryError(28724, `the first argument to $slice must be an array, but is of type: ${typeName(value)}`);
  const first = requireInt32(second, 'the place or number that $slice takes', 28726, 28725);
  if (args.length === 2) return first >= 0 ? value.slice(0, first) : value.slice(first);
  if (isNullish(third)) return null;
  const count = requireInt32(third, 'the number that $slice takes', 28728, 28727);
  if (count <= 0) throw new QueryError(28729, `the third argument to $slice must be positive: ${count}`);
  const start = first < 0 ? Math.max(0, value.length + first) : first;
  return value.slice(start, start + count);
}
