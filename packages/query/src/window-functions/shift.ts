/** $shift: the value of the row at this offset, or the default if there is none. */

import { describe } from '../bson/describe.ts';
import { BsonDocument } from '../bson/value.ts';
import type { StartWalk } from '../execute/window/partition.ts';
import { constantOf, parseExpression } from '../mql/expression.ts';
import { int32Of } from '../mql/window/bounds.ts';
import type { Expr } from '../plan/expr.ts';
import type { Constant, Shift } from '../plan/window.ts';
import { malformed } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const shift: WindowFunctionDefinition<Shift> = { names: ['$shift'], parse: parseShift, start };

function parseShift({ argument, hasWindow, by, at }: WindowSpec): Shift {
  if (hasWindow) throw malformed("$shift does not take a 'window'");
  if (!(argument instanceof BsonDocument)) throw malformed(`$shift takes an object, found ${describe(argument)}`);
  let input: Expr | undefined;
  let places: number | undefined;
  let otherwise: Constant = { k: 'lit', value: null };
  for (const [name, value] of argument) {
    if (name === 'output') input = parseExpression(value, `${at}.output`);
    else if (name === 'by') {
      places = int32Of(value);
      if (places === undefined) {
        throw malformed(`'by' is a whole number, found ${describe(value)}`);
      }
    } else if (name === 'default') {
      const constant = constantOf(parseExpression(value, `${at}.default`));
      if (constant === undefined) throw malformed("'default' must be a constant");
      otherwise = constant;
    } else throw malformed(`$shift found an unknown argument: ${name}`);
  }
  if (input === undefined) throw malformed("$shift needs an 'output'");
  if (places === undefined) throw malformed("$shift needs 'by', a whole number");
  if (by === undefined) throw malformed('$shift needs a sortBy');
  return { k: 'shift', input, by: places, otherwise };
}

function start(fn: Shift): StartWalk {
  return (partition, value) => {
    return (index) => {
      const other = index + fn.by;
      return other >= 0 && other < partition.documents.length ? (value(other) ?? null) : fn.otherwise.value;
    };
  };
}
