/** $in and $indexOfArray. */

import { compareValues } from '../../bson/compare.ts';
import { valueKey } from '../../bson/key.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { constantOf } from '../../execute/expressions/constant.ts';
import { QueryError } from '../../query-error.ts';
import { type Functions, lazy } from '../definition.ts';
import { requirePlace } from '../numbers/number.ts';

export const arraySearch: Functions = {
  'agg.indexOfArray': lazy({ mql: [2, 4] }, (args) => {
    const known = constantOf(args[0]!)?.value;
    // A constant that is not an array is reported before any row, unless all arguments are constant.
    if (!isNullish(known) && !Array.isArray(known) && args.some((arg) => constantOf(arg) === undefined))
      throw notArray(50809, known);
    return (frame) => indexOfArray(args.map((arg) => arg(frame)));
  }),

  /** A constant list is searched by key, however long it is. */
  'agg.in': lazy(
    {
      mql: 2,
      size: 'bounded',
      neverFails: ([, list]) => list?.k === 'lit' && Array.isArray(list.value),
      numberTypes: 'none',
    },
    ([value, list]) => {
      const known = constantOf(list!);
      if (known === undefined) {
        return (frame) => {
          const sought = value!(frame);
          return listOf(list!(frame)).some((item) => compareValues(item, sought) === 0);
        };
      }
      const keys = new Set(listOf(known.value).map(valueKey));
      return (frame) => keys.has(valueKey(value!(frame)));
    },
  ),
};

function indexOfArray(args: readonly Maybe[]): Maybe {
  const [list, sought] = args;
  if (isNullish(list)) return null;
  if (!Array.isArray(list)) throw notArray(40090, list);
  const start = args.length > 2 ? requirePlace(args[2], 'the start of $indexOfArray', 9711600, 9711601) : 0;
  const end =
    args.length > 3
      ? Math.min(requirePlace(args[3], 'the end of $indexOfArray', 9711600, 9711601), list.length)
      : list.length;
  for (let index = start; index < end; index++) {
    if (compareValues(list[index], sought) === 0) return new Int32(index);
  }
  return new Int32(-1);
}

function notArray(code: number, value: Maybe): QueryError {
  return new QueryError(code, `$indexOfArray requires an array as a first argument, found: ${typeName(value)}`);
}

function listOf(list: Maybe): readonly BsonValue[] {
  if (Array.isArray(list)) return list;
  throw new QueryError(40081, `$in requires an array as a second argument, found: ${typeName(list)}`);
}
