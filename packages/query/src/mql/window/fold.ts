/** The accumulators of $group as window functions. */

import { BsonDocument, Int32 } from '../../bson/value.ts';
import { literal } from '../../plan/expr.ts';
import type { AccumulatorName } from '../../plan/stage.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseAccumulator } from '../accumulators/parse-accumulator.ts';
import { describe } from '../describe.ts';
import { parseExpression } from '../expression.ts';
import type { WindowSpec } from './function.ts';

/** These take one expression; unlike in $group, an array is one, too. */
const unary = [
  ...(['sum', 'avg', 'min', 'max', 'first', 'last', 'push', 'addToSet'] as const),
  ...(['stdDevPop', 'stdDevSamp', 'concatArrays', 'setUnion'] as const),
] satisfies readonly AccumulatorName[];

/** These take named parts, as in $group. */
const named = [
  ...(['firstN', 'lastN', 'minN', 'maxN', 'top', 'topN', 'bottom', 'bottomN'] as const),
  ...(['median', 'percentile'] as const),
] satisfies readonly AccumulatorName[];

export const foldNames: readonly string[] = ['count', ...unary, ...named];

export function parseFold({ name, argument, frame, at }: WindowSpec): WindowFunction {
  if (name === '$count') {
    if (!(argument instanceof BsonDocument) || argument.size > 0) {
      throw new QueryError('FailedToParse', `$count takes an empty object, found ${describe(argument)}`, { path: at });
    }
    return { k: 'fold', accumulator: { fn: 'sum', arg: literal(new Int32(1)) }, frame };
  }
  const fn = unary.find((known) => `$${known}` === name);
  if (fn !== undefined) return { k: 'fold', accumulator: { fn, arg: parseExpression(argument, at) }, frame };
  const accumulator = parseAccumulator(name, argument, at);
  if (accumulator === undefined) throw new QueryError('FailedToParse', `${name} is not an accumulator`, { path: at });
  return { k: 'fold', accumulator, frame };
}
