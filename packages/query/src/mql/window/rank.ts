/** $rank, $denseRank and $documentNumber. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument } from '../../bson/value.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import type { WindowSpec } from './function.ts';

export function parseRank({ name, argument, hasWindow, others, by, at }: WindowSpec): WindowFunction {
  if (hasWindow || others.length > 0) {
    throw new QueryError(5371601, `${name} takes no other arguments, and no window`, { path: at });
  }
  if (!(argument instanceof BsonDocument) || argument.size > 0) {
    throw new QueryError(5371603, `${name} takes an empty object, found ${describe(argument)}`, { path: at });
  }
  if (by?.length !== 1) throw new QueryError(5371602, `${name} needs a sortBy of exactly one field`, { path: at });
  return { k: name === '$rank' ? 'rank' : name === '$denseRank' ? 'denseRank' : 'documentNumber' };
}
