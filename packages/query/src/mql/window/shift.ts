/** $shift: the value of a row some places away. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';
import type { Constant, WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { int32Of } from './bounds.ts';
import { constantOf } from './constant.ts';
import type { WindowSpec } from './function.ts';

export function parseShift({ argument, hasWindow, by, at }: WindowSpec): WindowFunction {
  const fail = (reason: string): QueryError => new QueryError('FailedToParse', reason, { path: at });
  if (hasWindow) throw fail("$shift does not take a 'window'");
  if (!(argument instanceof BsonDocument)) throw fail(`$shift takes an object, found ${describe(argument)}`);
  let input: Expr | undefined;
  let places: number | undefined;
  let otherwise: Constant = { k: 'lit', value: null };
  for (const [name, value] of argument) {
    if (name === 'output') input = parseExpression(value, `${at}.output`);
    else if (name === 'by') {
      places = int32Of(value);
      if (places === undefined) {
        throw fail(`'by' is a whole number, found ${describe(value)}`);
      }
    } else if (name === 'default') {
      const constant = constantOf(parseExpression(value, `${at}.default`));
      if (constant === undefined) throw fail("'default' must be a constant");
      otherwise = constant;
    } else throw fail(`$shift found an unknown argument: ${name}`);
  }
  if (input === undefined) throw fail("$shift needs an 'output'");
  if (places === undefined) throw fail("$shift needs 'by', a whole number");
  if (by === undefined) throw fail('$shift needs a sortBy');
  return { k: 'shift', input, by: places, otherwise };
}
