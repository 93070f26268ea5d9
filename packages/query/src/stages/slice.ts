/** $limit and $skip. */

import { describe } from '../bson/describe.ts';
import { isNumeric } from '../bson/type.ts';
import type { BsonValue } from '../bson/value.ts';
import type { Rows } from '../execute/row.ts';
import { exactWhole, maxLong, minLong } from '../functions/numbers/number.ts';
import type { SliceStage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { StageDefinition } from './definition.ts';

export const slice: StageDefinition<SliceStage> = { mql: { $limit: parseLimit, $skip: parseSkip }, run: runSlice };

function parseLimit(spec: BsonValue): SliceStage {
  const limit = wholeNumber(spec, '$limit', 5107201);
  if (limit <= 0) throw new QueryError(15958, `$limit takes a positive number, found ${limit}`);
  return { k: 'slice', skip: 0, limit };
}

function parseSkip(spec: BsonValue): SliceStage {
  const skip = wholeNumber(spec, '$skip', 5107200);
  if (skip < 0) throw new QueryError(5107200, `$skip takes a number that is not negative, found ${skip}`);
  return { k: 'slice', skip };
}

function wholeNumber(value: BsonValue, stage: string, code: number): number {
  if (!isNumeric(value)) throw new QueryError(code, `${stage} takes a whole number, found ${describe(value)}`);
  const whole = exactWhole(value);
  if (whole === undefined || whole < minLong || whole > maxLong) {
    throw new QueryError(code, `${stage} takes a whole number of 64 bits, found ${describe(value)}`);
  }
  const number = Number(whole);
  if (stage === '$limit' && number < 0) throw new QueryError(code, `$limit takes a positive number, found ${number}`);
  return number;
}

async function* runSlice(stage: SliceStage, input: Rows): Rows {
  let skip = stage.skip;
  let left = stage.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  for await (const rows of input) {
    const from = Math.min(skip, rows.length);
    skip -= from;
    const taken = rows.slice(from, from + left);
    left -= taken.length;
    if (taken.length > 0) yield taken;
    if (left <= 0) return;
  }
}
