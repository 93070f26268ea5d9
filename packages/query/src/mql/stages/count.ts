/** $count: a group of all rows under a name that the user chooses. */

import { describe } from '../../bson/describe.ts';
import { type BsonValue, Int32 } from '../../bson/value.ts';
import { literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';

export function parseCount(spec: BsonValue): readonly Stage[] {
  if (typeof spec !== 'string')
    throw new QueryError(40156, `$count takes the name of a field, found ${describe(spec)}`);
  if (spec === '') throw new QueryError(40157, '$count takes the name of a field, found an empty string');
  if (spec.startsWith('$'))
    throw new QueryError(40158, `the field of $count must not start with '$': ${describe(spec)}`);
  if (spec.includes('\0')) throw new QueryError(40159, 'the field of $count must not contain a null byte');
  if (spec.includes('.')) throw new QueryError(40160, `the field of $count must not contain a dot: ${describe(spec)}`);
  if (spec === '_id') throw new QueryError(9039800, "the field of $count must not be '_id'");
  return [
    { k: 'group', key: literal(null), accumulators: [[spec, { fn: 'sum', arg: literal(new Int32(1)) }]] },
    { k: 'shape', mode: 'exclude', tree: { k: 'tree', fields: [['_id', { k: 'drop' }]] } },
  ];
}
