/** $group, and the stages that become one: $count and $sortByCount. */
import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import type { Accumulator } from '../../plan/accumulator.ts';
import { type Expr, literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { parseAccumulatorField } from './accumulator-fields.ts';

/** $group: the key under `_id`, accumulators in the other fields. */
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

/** $count: a group of all rows under a name that the user chooses. */
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

/** $sortByCount: groups by an expression, the most frequent first. */
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
