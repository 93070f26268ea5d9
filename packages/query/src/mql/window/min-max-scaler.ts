/** $minMaxScaler: an expression, or an object with input, min and max. */

import { compareValues } from '../../bson/compare.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';
import type { Bound, Constant, WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { constantOf } from './constant.ts';
import type { WindowSpec } from './function.ts';

export function parseMinMaxScaler({ argument, frame, at }: WindowSpec): WindowFunction {
  const fail = (reason: string): QueryError => new QueryError('FailedToParse', reason, { path: at });
  const [low, high] = [signOf(frame.lower), signOf(frame.upper)];
  if (low > 0 || high < 0) throw fail('the window of $minMaxScaler must hold the current document');
  let input: Expr | undefined;
  let min: Constant | undefined;
  let max: Constant | undefined;
  if (argument instanceof BsonDocument && ![...argument.keys()].some((name) => name.startsWith('$'))) {
    for (const [name, value] of argument) {
      if (name === 'input') input = parseExpression(value, `${at}.input`);
      else if (name === 'min') min = number(value, name, at);
      else if (name === 'max') max = number(value, name, at);
      else throw fail(`$minMaxScaler found an unknown argument: ${name}`);
    }
  } else input = parseExpression(argument, at);
  if (input === undefined) throw fail("$minMaxScaler needs an 'input'");
  if ((min === undefined) !== (max === undefined)) throw fail("$minMaxScaler takes 'min' and 'max', or neither");
  const lowest = min ?? { k: 'lit', value: new Int32(0) };
  const highest = max ?? { k: 'lit', value: new Int32(1) };
  if (compareValues(lowest.value, highest.value) >= 0) throw fail("'max' of $minMaxScaler must be greater than 'min'");
  return { k: 'minMaxScaler', input, min: lowest, max: highest, frame };
}

function number(value: BsonValue, name: string, at: string): Constant {
  const constant = constantOf(parseExpression(value, `${at}.${name}`));
  if (constant !== undefined && isNumeric(constant.value)) return constant;
  throw new QueryError('FailedToParse', `'${name}' of $minMaxScaler must be a constant number`, { path: at });
}

function signOf(bound: Bound<number> | Bound<Constant>): number {
  if (typeof bound === 'string') return 0;
  return compareValues(typeof bound === 'number' ? bound : bound.value, 0);
}
