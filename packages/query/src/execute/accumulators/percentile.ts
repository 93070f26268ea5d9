/** $median and $percentile: the least number that so many of all do not exceed, exactly; an approximation may be exact. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { isNumeric } from '../../bson/type.ts';
import { Decimal128, Int32 } from '../../bson/value.ts';
import type { Folds } from './fold.ts';

export const percentileFolds: Folds<'median' | 'percentile'> = {
  median: (hold) => {
    const numbers = new Numbers(hold);
    return { add: (value) => numbers.add(value), result: () => numbers.at([0.5])[0] ?? null };
  },
  percentile: (hold, spec) => {
    const numbers = new Numbers(hold);
    return { add: (value) => numbers.add(value), result: () => numbers.at(spec.p ?? []) };
  },
};

class Numbers {
  readonly #numbers: number[] = [];
  readonly #hold: (bytes: number) => void;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  /** What is not a number does not take part, nor does NaN. */
  add(value: unknown): void {
    const number = numberOf(value);
    if (number === undefined || Number.isNaN(number)) return;
    this.#hold(16);
    this.#numbers.push(number);
  }

  at(probabilities: readonly number[]): (number | null)[] {
    const sorted = Float64Array.from(this.#numbers).sort();
    return probabilities.map((p) => percentileOf(sorted, p));
  }
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  return value instanceof Decimal128 && isNumeric(value) ? decimalToNumber(value) : undefined;
}

/** @param sorted ascending. */
function percentileOf(sorted: Float64Array, p: number): number | null {
  const count = sorted.length;
  return count === 0 ? null : sorted[p >= 1 ? count - 1 : Math.max(0, Math.ceil(count * p) - 1)]!;
}
