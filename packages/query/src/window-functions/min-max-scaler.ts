/** $minMaxScaler: the relative position of a number between the least and the greatest of its window. */

import { slidingExtreme } from '../accumulators/sliding/extreme.ts';
import { compareValues } from '../bson/compare.ts';
import { isNumeric, typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../bson/value.ts';
import { extents } from '../execute/window/extent.ts';
import type { StartWalk } from '../execute/window/partition.ts';
import { slide } from '../execute/window/slide.ts';
import { divide, multiply } from '../functions/numbers/arithmetic.ts';
import { add, subtract } from '../functions/numbers/sums.ts';
import { constantOf, parseExpression } from '../mql/expression.ts';
import type { Expr } from '../plan/expr.ts';
import type { Bound, Constant, MinMaxScaler } from '../plan/window.ts';
import { malformed, QueryError } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const minMaxScaler: WindowFunctionDefinition<MinMaxScaler> = {
  names: ['$minMaxScaler'],
  takesWindow: true,
  parse: parseMinMaxScaler,
  start,
};

function parseMinMaxScaler({ argument, frame, at }: WindowSpec): MinMaxScaler {
  const [low, high] = [signOf(frame.lower), signOf(frame.upper)];
  if (low > 0 || high < 0) throw malformed('the window of $minMaxScaler must contain the current document');
  let input: Expr | undefined;
  let min: Constant | undefined;
  let max: Constant | undefined;
  if (argument instanceof BsonDocument && ![...argument.keys()].some((name) => name.startsWith('$'))) {
    for (const [name, value] of argument) {
      if (name === 'input') input = parseExpression(value, `${at}.input`);
      else if (name === 'min') min = number(value, name, at);
      else if (name === 'max') max = number(value, name, at);
      else throw malformed(`$minMaxScaler found an unknown argument: ${name}`);
    }
  } else input = parseExpression(argument, at);
  if (input === undefined) throw malformed("$minMaxScaler needs an 'input'");
  if ((min === undefined) !== (max === undefined)) throw malformed("$minMaxScaler takes 'min' and 'max', or neither");
  const lowest = min ?? { k: 'lit', value: new Int32(0) };
  const highest = max ?? { k: 'lit', value: new Int32(1) };
  if (compareValues(lowest.value, highest.value) >= 0)
    throw malformed("'max' of $minMaxScaler must be greater than 'min'");
  return { k: 'minMaxScaler', input, min: lowest, max: highest, frame };
}

function number(value: BsonValue, name: string, at: string): Constant {
  const constant = constantOf(parseExpression(value, `${at}.${name}`));
  if (constant !== undefined && isNumeric(constant.value)) return constant;
  throw malformed(`'${name}' of $minMaxScaler must be a constant number`);
}

function signOf(bound: Bound<number> | Bound<Constant>): number {
  if (typeof bound === 'string') return 0;
  return compareValues(typeof bound === 'number' ? bound : bound.value, 0);
}

function start(fn: MinMaxScaler): StartWalk {
  const [min, max] = [fn.min.value, fn.max.value];
  return (partition, evaluate) => {
    const value = (index: number): BsonValue => {
      const found = evaluate(index);
      if (isNumeric(found)) return found;
      throw new QueryError(10487000, `the input of $minMaxScaler must be a number, found ${typeName(found)}`);
    };
    const least = slidingExtreme(1);
    const greatest = slidingExtreme(-1);
    const move = slide(
      extents(fn.frame, partition),
      (index) => {
        const found = value(index);
        least.add(found);
        greatest.add(found);
      },
      () => {
        least.remove(undefined);
        greatest.remove(undefined);
      },
    );
    return (index) => {
      move(index);
      const [low, high] = [least.result(), greatest.result()];
      if (compareValues(low, high) === 0) return min;
      return add(multiply(divide(subtract(value(index), low), subtract(high, low)), subtract(max, min)), min);
    };
  };
}
