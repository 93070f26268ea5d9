/** Values to densify, numbers or dates, and the step from one to the next. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { type Numeric, toDouble } from '../../functions/numbers/number.ts';
import { add } from '../../functions/numbers/sums.ts';
import type { Path } from '../../plan/expr.ts';
import type { DensifyStage } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { addTime } from './add-time.ts';

export interface Stepping {
  readonly next: (value: BsonValue) => BsonValue;
  /** @returns undefined for null and missing. @throws QueryError for a value that does not match the step. */
  readonly densified: (document: BsonDocument) => BsonValue | undefined;
}

export function steppingOf({ field, step, unit }: DensifyStage): Stepping {
  const amount = step.value ?? new Int32(1);
  const whole = toDouble(amount as Numeric);
  return {
    next: (value) =>
      value instanceof BsonDate && unit !== undefined
        ? new BsonDate(addTime(value.ms, unit, whole))
        : (add(value, amount) ?? null),
    densified: (document) => {
      const value = nestedValue(document, field);
      if (isNullish(value)) return undefined;
      if (!isNumeric(value) && !(value instanceof BsonDate)) {
        throw new QueryError(5733201, `$densify takes numbers and dates, found ${typeName(value)}`);
      }
      if (value instanceof BsonDate !== (unit !== undefined)) {
        throw new QueryError(
          6053600,
          unit === undefined ? 'dates are densified with a unit' : 'numbers are densified without a unit',
        );
      }
      return value;
    },
  };
}

export function isBelow(left: BsonValue, right: BsonValue): boolean {
  return compareValues(left, right) < 0;
}

/** Arrays on the path give no value. */
function nestedValue(document: BsonDocument, path: Path): Maybe {
  let current: Maybe = document;
  for (const name of path) {
    if (!(current instanceof BsonDocument)) return undefined;
    current = current.get(name);
  }
  return current;
}
