/** $bucket: a $group by the greatest boundary that a value reaches, in the order of the boundaries. */

import { compareValues } from '../../bson/compare.ts';
import { describe } from '../../bson/describe.ts';
import { typeName, typeRank } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import type { Accumulator, AccumulatorFields } from '../../plan/accumulator.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { constantOf, parseExpression } from '../expression.ts';
import { parseAccumulatorField } from './accumulator-fields.ts';

const at = '$bucket';

export function parseBucket(spec: BsonValue): readonly Stage[] {
  if (!(spec instanceof BsonDocument)) throw new QueryError(40201, `$bucket takes an object, found ${describe(spec)}`);
  let groupBy: BsonValue | undefined;
  let boundaries: readonly BsonValue[] | undefined;
  let fallback: BsonValue | undefined;
  let output: BsonDocument | undefined;
  for (const [name, value] of spec) {
    if (name === 'groupBy') groupBy = checkGroupBy(value, 40202);
    else if (name === 'boundaries') boundaries = parseBoundaries(value);
    else if (name === 'default') fallback = constant(value, `${at}.default`, 40195);
    else if (name === 'output') output = checkOutput(value, 40196);
    else {
      throw new QueryError(40197, `$bucket has no option '${name}'`, {
        hint: 'its options are groupBy, boundaries, default and output',
      });
    }
  }
  if (groupBy === undefined || boundaries === undefined) {
    throw new QueryError(40198, '$bucket needs groupBy and boundaries');
  }
  if (fallback !== undefined && isInside(fallback, boundaries)) {
    throw new QueryError(40199, 'default must be less than the lowest boundary, or the highest one or above');
  }
  // As in MongoDB, their contents are parsed last, by the $group that this becomes.
  const key = bucketOf(parseExpression(groupBy, `${at}.groupBy`), boundaries, fallback);
  const accumulators = output === undefined ? countOnly : parseOutput(output, at);
  return [
    { k: 'group', key, accumulators },
    { k: 'sort', by: [{ path: ['_id'], descending: false }] },
  ];
}

/** The default output of $bucket and $bucketAuto. */
export const countOnly: AccumulatorFields = [['count', { fn: 'sum', arg: literal(new Int32(1)) }]];

/** A path, or an object that is an expression. */
export function checkGroupBy(value: BsonValue, code: number): BsonValue {
  const isPath = typeof value === 'string' && value.startsWith('$');
  if (isPath || (value instanceof BsonDocument && [...value.keys()][0]?.startsWith('$'))) return value;
  throw new QueryError(code, `groupBy must be a path that starts with '$' or an expression, found ${describe(value)}`);
}

export function checkOutput(value: BsonValue, code: number): BsonDocument {
  if (value instanceof BsonDocument) return value;
  throw new QueryError(code, `output must be an object, found ${describe(value)}`);
}

export function parseOutput(output: BsonDocument, stage: string): AccumulatorFields {
  return [...output].map(([name, spec]): readonly [string, Accumulator] => {
    if (name === '_id') throw new QueryError(15948, 'output must not have the field _id, which is the bucket');
    return parseAccumulatorField(name, spec, `${stage}.output`);
  });
}

function parseBoundaries(value: BsonValue): readonly BsonValue[] {
  if (!Array.isArray(value)) throw new QueryError(40200, `boundaries must be an array, found ${describe(value)}`);
  const boundaries = value.map((item, index) => constant(item, `${at}.boundaries.${index}`, 40191));
  if (boundaries.length < 2) throw new QueryError(40192, `boundaries needs two values, found ${boundaries.length}`);
  for (let index = 1; index < boundaries.length; index++) {
    const [lower, upper] = [boundaries[index - 1]!, boundaries[index]!];
    if (typeRank(lower) !== typeRank(upper)) {
      throw new QueryError(40193, `boundaries must be of one type, found ${typeName(lower)} and ${typeName(upper)}`);
    }
    if (compareValues(lower, upper) >= 0) {
      throw new QueryError(40194, `boundaries must ascend, found ${describe(upper)} after ${describe(lower)}`);
    }
  }
  return boundaries;
}

function constant(value: BsonValue, path: string, code: number): BsonValue {
  const found = constantOf(parseExpression(value, path));
  if (found === undefined) throw new QueryError(code, `expected a constant, found ${describe(value)}`, { path });
  return found.value ?? null;
}

/** Types other than the boundaries' are allowed: they sort before or after all of them. */
function isInside(value: BsonValue, boundaries: readonly BsonValue[]): boolean {
  return compareValues(value, boundaries[0]) >= 0 && compareValues(value, boundaries.at(-1)) < 0;
}

/** Without a default, a value that fits no bucket is $switch's error. */
function bucketOf(groupBy: Expr, boundaries: readonly BsonValue[], fallback: BsonValue | undefined): Expr {
  const value: Expr = { k: 'var', name: 'value', path: [] };
  const branches = boundaries.slice(0, -1).flatMap((lower, index) => {
    const from = call('agg.gte', [value, literal(lower)], at);
    const below = call('agg.lt', [value, literal(boundaries[index + 1])], at);
    return [call('agg.and', [from, below], at), literal(lower)];
  });
  const args = fallback === undefined ? branches : [...branches, literal(fallback)];
  return { k: 'bind', fn: 'let', vars: ['value'], args: [groupBy], body: call('agg.switch', args, at), at };
}
