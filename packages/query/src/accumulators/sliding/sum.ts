/**
 * $sum and $avg of a moving window. A value that leaves is added with the opposite sign: integers stay exact, and a second double keeps
 * what rounding of doubles loses. NaN and infinities cannot be subtracted, so they are counted instead.
 */

import { decimalInfinity, decimalNan, decimalToNumber } from '../../bson/decimal.ts';
import { divide, negated } from '../../bson/decimal-arithmetic.ts';
import { isNumeric } from '../../bson/type.ts';
import { type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { ExactSum } from '../../execute/sums/exact-sum.ts';
import {
  isFiniteNumber,
  isNan,
  maxLong,
  minLong,
  type Numeric,
  signOf,
  toDecimal,
  toDouble,
  wholeResult,
} from '../../functions/numbers/number.ts';
import type { Sliding } from './sliding.ts';

export class SlidingSum {
  /** How many numbers are in the window. */
  count = 0;
  readonly #sum = new ExactSum();
  #nans = 0;
  #above = 0;
  #below = 0;
  #decimals = 0;
  #doubles = 0;

  add(value: Maybe): void {
    this.#change(value, 1);
  }

  remove(value: Maybe): void {
    this.#change(value, -1);
  }

  /** Has the type that the values now in the window give, whatever was in it before. */
  total(): BsonValue {
    const special = this.#special();
    if (special !== undefined) {
      if (this.#decimals === 0) return special;
      return Number.isNaN(special) ? decimalNan : decimalInfinity(special < 0);
    }
    const total = this.#sum.total();
    if (total instanceof Decimal128) return this.#decimals > 0 ? total : this.#narrowed(decimalToNumber(total));
    if (typeof total === 'number') return this.#narrowed(total);
    return typeof total === 'bigint' ? (wholeResult(total, false) ?? total) : total;
  }

  /** @returns null if there are no numbers. */
  mean(): BsonValue {
    if (this.count === 0) return null;
    const total = this.total() as Numeric;
    if (!isFiniteNumber(total)) return total;
    return total instanceof Decimal128 ? divide(total, toDecimal(new Int32(this.count))) : toDouble(total) / this.count;
  }

  #change(value: Maybe, by: 1 | -1): void {
    if (!isNumeric(value)) return;
    this.count += by;
    if (value instanceof Decimal128) this.#decimals += by;
    else if (typeof value === 'number') this.#doubles += by;
    if (isFiniteNumber(value)) this.#sum.add(by === 1 ? value : opposite(value));
    else if (isNan(value)) this.#nans += by;
    else if (signOf(value) > 0) this.#above += by;
    else this.#below += by;
  }

  #special(): number | undefined {
    if (this.#nans > 0 || (this.#above > 0 && this.#below > 0)) return Number.NaN;
    if (this.#above > 0) return Number.POSITIVE_INFINITY;
    return this.#below > 0 ? Number.NEGATIVE_INFINITY : undefined;
  }

  /** A double total is an integer if no double in the window contributed to it. */
  #narrowed(total: number): BsonValue {
    if (this.#doubles > 0 || !(total > Number(minLong) && total < Number(maxLong))) return total;
    return wholeResult(BigInt(Math.round(total)), false) ?? total;
  }
}

function opposite(value: Numeric): Numeric {
  if (value instanceof Decimal128) return negated(value);
  return value instanceof Int32 ? new Int32(-value.value) : -value;
}

export function slidingSum(): Sliding {
  const sum = new SlidingSum();
  return { add: (value) => sum.add(value), remove: (value) => sum.remove(value), result: () => sum.total() };
}

export function slidingAvg(): Sliding {
  const sum = new SlidingSum();
  return { add: (value) => sum.add(value), remove: (value) => sum.remove(value), result: () => sum.mean() };
}
