/** $group: the key under `_id`, accumulators in the other fields. */

import { BsonDocument, type BsonValue, Int32 } from '../bson/value.ts';
import { type Expr, literal } from '../plan/expr.ts';
import type { Accumulator, AccumulatorName, Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import { describe } from './describe.ts';
import { parseExpression } from './expression.ts';

const accumulators: readonly AccumulatorName[] = [
  'sum',
  'avg',
  'min',
  'max',
  'first',
  'last',
  'count',
  'push',
  'addToSet',
];

/** Accumulators of MongoDB that this version does not run. */
const later: readonly string[] = [
  ...['$bottom', '$bottomN', '$concatArrays', '$firstN', '$lastN', '$maxN', '$median', '$mergeObjects', '$minN'],
  ...['$percentile', '$setUnion', '$stdDevPop', '$stdDevSamp', '$top', '$topN'],
];

export function parseGroup(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15947, `$group takes an object, found ${describe(spec)}`);
  let key: Expr | undefined;
  const into: [string, Accumulator][] = [];
  for (const [name, value] of spec) {
    if (name === '_id') key = parseExpression(value, '$group._id');
    else into.push([name, parseAccumulator(name, value)]);
  }
  if (key === undefined) throw new QueryError(15955, 'a $group specification must include an _id');
  return { k: 'group', key, into };
}

function parseAccumulator(name: string, spec: BsonValue): Accumulator {
  if (name.includes('.')) throw new QueryError(40235, `the field '${name}' of $group must not contain a dot`);
  if (name.startsWith('$')) throw new QueryError(40236, `the field '${name}' of $group must not start with '$'`);
  const path = `$group.${name}`;
  if (!(spec instanceof BsonDocument)) {
    throw new QueryError(40234, `the field '${name}' must be an accumulator object, found ${describe(spec)}`, { path });
  }
  const [entry] = spec;
  if (entry === undefined || spec.size > 1) {
    throw new QueryError(
      40238,
      `the field '${name}' must name one accumulator, found ${[...spec.keys()].join(', ') || 'none'}`,
      { path },
    );
  }
  const [operator, argument] = entry;
  if (!operator.startsWith('$')) {
    throw new QueryError(40234, `the field '${name}' must be an accumulator object, found ${describe(spec)}`, { path });
  }
  const fn = accumulators.find((known) => `$${known}` === operator);
  if (fn === undefined) {
    if (later.includes(operator)) {
      throw new QueryError('NotImplemented', `the accumulator ${operator} arrives in a later version`, { path });
    }
    const known = accumulators.map((each) => `$${each}`).join(', ');
    throw new QueryError(15952, `unknown group operator '${operator}'`, {
      path,
      hint: `the accumulators are ${known}`,
    });
  }
  if (Array.isArray(argument)) {
    throw new QueryError(40237, `the ${operator} accumulator is a unary operator, found an array`, { path });
  }
  if (fn === 'count') {
    if (!(argument instanceof BsonDocument) || argument.size > 0) {
      throw new QueryError('TypeMismatch', `$count takes an empty object, found ${describe(argument)}`, { path });
    }
    return { fn: 'sum', arg: literal(new Int32(1)) };
  }
  return { fn, arg: parseExpression(argument, `${path}.${operator}`) };
}
