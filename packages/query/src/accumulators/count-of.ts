/** The `n` of $firstN and similar accumulators. */

import { compareValues } from '../bson/compare.ts';
import { isNumeric, typeName } from '../bson/type.ts';
import type { Maybe } from '../bson/value.ts';
import { maxLong, toDouble } from '../functions/numbers/number.ts';
import { QueryError } from '../query-error.ts';

/** @throws QueryError 5787902 if it is not a number, 5787903 if it is not whole, 5787908 if it is not above 0. */
export function countOf(value: Maybe, name: string): number {
  if (!isNumeric(value)) throw new QueryError(5787902, `${name} needs a number for 'n', found ${typeName(value)}`);
  const count = toDouble(value);
  if (!Number.isInteger(count) || compareValues(value, maxLong) > 0) {
    throw new QueryError(5787903, `${name} needs a whole number of 64 bits for 'n', found ${count}`);
  }
  if (count <= 0) throw new QueryError(5787908, `${name} needs an 'n' above 0, found ${count}`);
  return count;
}
