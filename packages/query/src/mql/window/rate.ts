/** $derivative and $integral. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument } from '../../bson/value.ts';
import { unitMs } from '../../functions/dates/date-unit.ts';
import type { Expr } from '../../plan/expr.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import type { WindowSpec } from './function.ts';
import { parseTimeUnit } from './time-unit.ts';

export function parseRate({ name, argument, frame, hasWindow, by, at }: WindowSpec): WindowFunction {
  const fail = (reason: string): QueryError => new QueryError('FailedToParse', reason, { path: at });
  if (by?.length !== 1) throw fail(`${name} needs a sortBy of one field`);
  if (!(argument instanceof BsonDocument)) throw fail(`${name} takes an object, found ${describe(argument)}`);
  let input: Expr | undefined;
  let ms: number | undefined;
  for (const [part, value] of argument) {
    if (part === 'input') input = parseExpression(value, `${at}.input`);
    else if (part === 'unit') {
      // Months and longer units are not always equally long.
      ms = unitMs[parseTimeUnit(value, at)];
      if (ms === undefined) throw new QueryError(5490710, "'unit' must be week or smaller", { path: at });
    } else throw fail(`${name} found an unknown argument: ${part}`);
  }
  if (input === undefined) throw fail(`${name} needs an 'input'`);
  if (name === '$derivative' && !hasWindow) throw fail("$derivative needs a 'window'");
  const unit = ms === undefined ? {} : { unitMs: ms };
  return { k: name === '$derivative' ? 'derivative' : 'integral', input, frame, ...unit };
}
