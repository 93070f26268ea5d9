/** $group: the key under `_id`, accumulators in the other fields. */

import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { Accumulator } from '../../plan/accumulator.ts';
import type { Expr } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { parseAccumulatorField } from './accumulator-fields.ts';

export function parseGroup(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15947, `$group takes an object, found ${describe(spec)}`);
  let key: Expr | undefined;
  const accumulators: (readonly [string, Accumulator])[] = [];
  for (const [name, value] of spec) {
    if (name === '_id') key = parseKey(value);
    else accumulators.push(parseAccumulatorField(name, value, '$group'));
  }
  if (key === undefined) throw new QueryError(15955, 'a $group specification must include an _id');
  return { k: 'group', key, accumulators };
}

function parseKey(value: BsonValue): Expr {
  if (value instanceof BsonDocument && ![...value.keys()][0]?.startsWith('$')) {
    for (const [name, part] of value) {
      if (name === '') throw new QueryError(15998, 'a field of _id must have a name', { path: '$group._id' });
      if (typeof part !== 'boolean' && !isNumeric(part)) continue;
      throw new QueryError(17390, `$group does not include fields as $project does, found ${name}: ${describe(part)}`, {
        path: '$group._id',
        hint: `write '$${name}', or {$literal: …} for a constant`,
      });
    }
  }
  return parseExpression(value, '$group._id');
}
