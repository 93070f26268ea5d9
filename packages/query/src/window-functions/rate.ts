/** The operands of $derivative and $integral. */

import { describe } from '../bson/describe.ts';
import { BsonDocument } from '../bson/value.ts';
import { unitMs } from '../functions/dates/date-unit.ts';
import { parseExpression } from '../mql/expression.ts';
import { parseTimeUnit } from '../mql/window/bounds.ts';
import type { Expr } from '../plan/expr.ts';
import type { Rate } from '../plan/window.ts';
import { malformed, QueryError } from '../query-error.ts';
import type { WindowSpec } from './definition.ts';

export function parseRate({ name, argument, frame, by, at }: WindowSpec): Rate {
  if (by?.length !== 1) throw malformed(`${name} needs a sortBy of one field`);
  if (!(argument instanceof BsonDocument)) throw malformed(`${name} takes an object, found ${describe(argument)}`);
  let input: Expr | undefined;
  let ms: number | undefined;
  for (const [part, value] of argument) {
    if (part === 'input') input = parseExpression(value, `${at}.input`);
    else if (part === 'unit') {
      // Months and longer units vary in length.
      ms = unitMs[parseTimeUnit(value)];
      if (ms === undefined) throw new QueryError(5490710, "'unit' must be week or smaller");
    } else throw malformed(`${name} found an unknown argument: ${part}`);
  }
  if (input === undefined) throw malformed(`${name} needs an 'input'`);
  return { input, frame, ...(ms === undefined ? {} : { unitMs: ms }) };
}
