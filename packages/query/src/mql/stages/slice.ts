/** $limit and $skip. */

import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import type { BsonValue } from '../../bson/value.ts';
import { exactWhole, maxLong, minLong } from '../../functions/numbers/number.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';

export function parseLimit(spec: BsonValue): Stage {
  const limit = wholeNumber(spec, '$limit', 5107201);
  if (limit <= 0) throw new QueryError(15958, `$limit takes a positive number, found ${limit}`);
  return { k: 'slice', skip: 0, limit };
}

export function parseSkip(spec: BsonValue): Stage {
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
