/** The accumulators of $group as window functions. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument } from '../../bson/value.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseAccumulator } from '../accumulator.ts';
import type { WindowSpec } from './function.ts';

export function parseFold({ name, argument, frame, at }: WindowSpec): WindowFunction {
  if (name === '$count' && !(argument instanceof BsonDocument && argument.size === 0)) {
    throw new QueryError('FailedToParse', `$count takes an empty object, found ${describe(argument)}`, { path: at });
  }
  const accumulator = parseAccumulator(name, argument, at, true);
  if (accumulator === undefined) throw new QueryError('FailedToParse', `${name} is not an accumulator`, { path: at });
  return { k: 'fold', accumulator, frame };
}
