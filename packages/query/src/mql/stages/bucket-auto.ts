/** $bucketAuto: the number of buckets, and the series to which their bounds are rounded. */

import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { granularities } from '../../execute/bucket-auto/series.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { AccumulatorFields } from '../../plan/accumulator.ts';
import type { Expr } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { checkGroupBy, checkOutput, countOnly, parseOutput } from './bucket.ts';

export function parseBucketAuto(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) {
    throw new QueryError(40240, `$bucketAuto takes an object, found ${describe(spec)}`);
  }
  let key: Expr | undefined;
  let buckets: number | undefined;
  let granularity: string | undefined;
  let accumulators: AccumulatorFields = countOnly;
  for (const [name, value] of spec) {
    if (name === 'groupBy') key = parseExpression(checkGroupBy(value, 40239), '$bucketAuto.groupBy');
    else if (name === 'buckets') buckets = parseBuckets(value);
    else if (name === 'output') accumulators = withCount(parseOutput(checkOutput(value, 40244), '$bucketAuto'));
    else if (name === 'granularity') granularity = parseGranularity(value);
    else {
      throw new QueryError(40245, `$bucketAuto has no option '${name}'`, {
        hint: 'its options are groupBy, buckets, output and granularity',
      });
    }
  }
  if (key === undefined || buckets === undefined) {
    throw new QueryError(40246, '$bucketAuto needs groupBy and buckets');
  }
  if (buckets <= 0) throw new QueryError(40243, `buckets must be above 0, found ${buckets}`);
  const stage = { k: 'bucketAuto', key, buckets, accumulators } as const;
  return granularity === undefined ? stage : { ...stage, granularity };
}

/** An empty output counts as absent. */
function withCount(accumulators: AccumulatorFields): AccumulatorFields {
  return accumulators.length === 0 ? countOnly : accumulators;
}

function parseBuckets(value: BsonValue): number {
  if (!isNumeric(value)) throw new QueryError(40241, `buckets must be a number, found ${describe(value)}`);
  const count = toDouble(value);
  if (count !== (count | 0)) {
    throw new QueryError(40242, `buckets must be a whole number of 32 bits, found ${describe(value)}`);
  }
  return count;
}

function parseGranularity(value: BsonValue): string {
  if (typeof value !== 'string') throw new QueryError(40261, `granularity must be a string, found ${describe(value)}`);
  if (granularities.includes(value)) return value;
  throw new QueryError(40257, `unknown granularity ${describe(value)}`, { hint: `one of ${granularities.join(', ')}` });
}
