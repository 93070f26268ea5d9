/** Accumulators of one expression, as `{$sum: '$x'}`, and $count. */

import { BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import { literal } from '../../plan/expr.ts';
import type { Accumulator, AccumulatorName } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import { parseExpression } from '../expression.ts';
import type { ParseAccumulator } from './parse-accumulator.ts';

const names = [
  ...(['sum', 'avg', 'min', 'max', 'first', 'last', 'push', 'addToSet', 'stdDevPop', 'stdDevSamp'] as const),
  ...(['mergeObjects', 'concatArrays', 'setUnion'] as const),
] satisfies AccumulatorName[];

export const simpleAccumulators: Readonly<Record<string, ParseAccumulator>> = {
  ...Object.fromEntries(names.map((name) => [`$${name}`, unary(name)])),
  $count: (argument, at): Accumulator => {
    refuseArray('$count', argument, at);
    if (!(argument instanceof BsonDocument) || argument.size > 0) {
      throw new QueryError('TypeMismatch', `$count takes an empty object, found ${describe(argument)}`, { path: at });
    }
    return { fn: 'sum', arg: literal(new Int32(1)) };
  },
};

function unary(fn: AccumulatorName): ParseAccumulator {
  return (argument, at) => {
    refuseArray(`$${fn}`, argument, at);
    return { fn, arg: parseExpression(argument, at) };
  };
}

function refuseArray(name: string, argument: BsonValue, at: string): void {
  if (!Array.isArray(argument)) return;
  throw new QueryError(40237, `the ${name} accumulator is a unary operator, found an array`, {
    path: at,
    hint: 'write an array that is meant as a value as {$literal: […]}',
  });
}
