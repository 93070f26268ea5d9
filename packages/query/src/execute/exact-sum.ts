/**
 * Sums as $sum and $avg define them: integers exactly, doubles with a second double that carries what rounding loses,
 * so that the result does not depend on luck with the order. What is not a number is passed over.
 */

import { partsOfNumber } from '../bson/decimal.ts';
import { add, decimalOfWhole, divide } from '../bson/decimal-arithmetic.ts';
import { decimalInfinity, decimalNan, encodeDecimal } from '../bson/encode-decimal.ts';
import { type BsonValue, Decimal128, Int32, type Maybe } from '../bson/value.ts';
import { maxLong, minLong } from './functions/number.ts';

export class ExactSum {
  /** Numbers added. */
  count = 0;
  #whole = 0;
  #wide = 0n;
  #high = 0;
  #low = 0;
  #special = 0;
  #sawDouble = false;
  #sawLong = false;
  #decimal: Decimal128 | undefined;

  add(value: Maybe): void {
    if (typeof value === 'number') {
      this.#sawDouble = true;
      this.#addDouble(value);
    } else if (value instanceof Int32) {
      this.#whole += value.value;
      if (Math.abs(this.#whole) > 2 ** 52) this.#spill();
    } else if (typeof value === 'bigint') {
      this.#sawLong = true;
      this.#wide += value;
    } else if (value instanceof Decimal128) {
      this.#decimal = this.#decimal === undefined ? value : add(this.#decimal, value);
    } else return;
    this.count++;
  }

  /** The least type that holds it: int, long; a double once one was added or 64 bits do not suffice; decimal beats all. */
  total(): BsonValue {
    this.#spill();
    if (this.#decimal !== undefined) return this.#withDecimal(this.#decimal);
    if (this.#sawDouble) return this.#double();
    if (!this.#sawLong && this.#wide >= -2147483648n && this.#wide <= 2147483647n) return new Int32(Number(this.#wide));
    return this.#wide >= minLong && this.#wide <= maxLong ? this.#wide : Number(this.#wide);
  }

  mean(): number | Decimal128 {
    this.#spill();
    if (this.#decimal !== undefined) return divide(this.#withDecimal(this.#decimal), decimalOfWhole(this.count));
    return this.#double() / this.count;
  }

  /** What was added as integers and doubles takes part with all its digits. */
  #withDecimal(decimal: Decimal128): Decimal128 {
    const special = this.#special;
    if (special !== 0) return add(decimal, Number.isNaN(special) ? decimalNan : decimalInfinity(special < 0));
    let sum = add(decimal, decimalOfWhole(this.#wide));
    for (const part of [this.#high, this.#low]) {
      if (part !== 0) sum = add(sum, encodeDecimal(partsOfNumber(part)));
    }
    return sum;
  }

  #spill(): void {
    this.#wide += BigInt(this.#whole);
    this.#whole = 0;
  }

  #addDouble(value: number): void {
    if (!Number.isFinite(value)) {
      this.#special += value;
      return;
    }
    const sum = this.#high + value;
    const part = sum - this.#high;
    this.#low += this.#high - (sum - part) + (value - part);
    this.#high = sum;
  }

  #double(): number {
    if (this.#special !== 0) return this.#special;
    const whole = Number(this.#wide);
    const rest = Number(this.#wide - BigInt(whole));
    if (this.#wide === 0n) return Number.isFinite(this.#low) ? this.#high + this.#low : this.#high;
    const sum = this.#high + whole;
    const part = sum - this.#high;
    const lost = this.#high - (sum - part) + (whole - part);
    return sum + (this.#low + lost + rest);
  }
}
