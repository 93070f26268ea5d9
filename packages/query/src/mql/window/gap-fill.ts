/** $linearFill and $locf, which always look at the whole partition. */

import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import type { WindowSpec } from './function.ts';

export function parseGapFill({ name, argument, hasWindow, by, at }: WindowSpec): WindowFunction {
  const input = parseExpression(argument, at);
  if (hasWindow) throw new QueryError('FailedToParse', `${name} does not take a 'window'`, { path: at });
  if (name === '$locf') return { k: 'locf', input };
  if (by?.length !== 1) throw new QueryError(605001, '$linearFill needs a sortBy of exactly one field', { path: at });
  return { k: 'linearFill', input };
}
