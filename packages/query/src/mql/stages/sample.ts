/** $sample: how many rows. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { toWholeDecimal } from '../../bson/decimal-arithmetic.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128 } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';

export function parseSample(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(28745, `$sample takes an object, found ${describe(spec)}`);
  let size: number | undefined;
  for (const [name, value] of spec) {
    if (name !== 'size') throw new QueryError(28748, `$sample has only the option size, found '${name}'`);
    if (!isNumeric(value)) throw new QueryError(28746, `size must be a number, found ${describe(value)}`);
    // Fractions of decimals are rounded, those of doubles cut off.
    size =
      value instanceof Decimal128 ? decimalToNumber(toWholeDecimal(value, 'halfEven')) : Math.trunc(toDouble(value));
    if (!(size > 0)) throw new QueryError(28747, `size must be a positive whole number, found ${describe(value)}`);
  }
  if (size === undefined) throw new QueryError(28749, '$sample needs a size');
  return { k: 'sample', size };
}
