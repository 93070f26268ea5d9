/** Sums of Decimal128: exact, rounded to 34 digits at the end. */

import { decimalInfinity, decimalNan, decimalParts, encodeDecimal, partsOfUnits } from '../../bson/decimal.ts';
import { add } from '../../bson/decimal-arithmetic.ts';
import type { Decimal128 } from '../../bson/value.ts';

/** If exponents are further apart, the numbers are rounded when added, because an exact sum would need thousands of digits. */
const maxShift = 400;

export class DecimalSum {
  #coefficient = 0n;
  #exponent: number | undefined;
  /** The sum of NaN and infinities. */
  #special = 0;

  add(value: Decimal128): void {
    const { kind, negative, coefficient, exponent } = decimalParts(value);
    if (kind === 'nan') this.#special = Number.NaN;
    else if (kind === 'infinite') this.#special += negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    else this.#addFinite(negative ? -coefficient : coefficient, exponent);
  }

  total(): Decimal128 {
    if (Number.isNaN(this.#special)) return decimalNan;
    if (this.#special !== 0) return decimalInfinity(this.#special < 0);
    return encodeDecimal(partsOfUnits(this.#coefficient, this.#exponent ?? 0));
  }

  toString(): string {
    if (this.#special !== 0) return String(this.#special);
    return this.#exponent === undefined ? '' : `${this.#coefficient}E${this.#exponent}`;
  }

  /** @param state the result of `toString`. */
  merge(state: string): void {
    const [coefficient, exponent] = state.split('E');
    if (exponent === undefined) this.#special += Number(coefficient);
    else this.#addFinite(BigInt(coefficient!), Number(exponent));
  }

  #addFinite(coefficient: bigint, exponent: number): void {
    const shift = exponent - (this.#exponent ?? exponent);
    if (Math.abs(shift) > maxShift) {
      const sum = decimalParts(add(this.total(), encodeDecimal(partsOfUnits(coefficient, exponent))));
      if (sum.kind === 'infinite') this.#special += sum.negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      this.#coefficient = sum.negative ? -sum.coefficient : sum.coefficient;
      this.#exponent = sum.exponent;
    } else if (shift >= 0) {
      this.#coefficient += shift === 0 ? coefficient : coefficient * 10n ** BigInt(shift);
      this.#exponent ??= exponent;
    } else {
      this.#coefficient = this.#coefficient * 10n ** BigInt(-shift) + coefficient;
      this.#exponent = exponent;
    }
  }
}
