/** $sortByCount: groups by an expression, the most frequent first. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import { literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';

export function parseSortByCount(spec: BsonValue): readonly Stage[] {
  const hint = "write a path as '$x', or an expression such as {$toLower: '$x'}";
  if (spec instanceof BsonDocument) {
    if (![...spec.keys()][0]?.startsWith('$')) {
      throw new QueryError(40147, `$sortByCount takes a path or an expression, found ${describe(spec)}`, { hint });
    }
  } else if (typeof spec === 'string') {
    if (!spec.startsWith('$')) {
      throw new QueryError(40148, `$sortByCount takes a path that starts with '$', found ${describe(spec)}`, { hint });
    }
  } else throw new QueryError(40149, `$sortByCount takes a path or an expression, found ${describe(spec)}`, { hint });
  const one = literal(new Int32(1));
  return [
    { k: 'group', key: parseExpression(spec, '$sortByCount'), accumulators: [['count', { fn: 'sum', arg: one }]] },
    { k: 'sort', by: [{ path: ['count'], descending: true }] },
  ];
}
