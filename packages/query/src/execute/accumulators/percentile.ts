/** $median and $percentile: the least number that so many of all do not exceed, exactly; an approximation may be exact. */

import { isNumeric } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { toDouble } from '../functions/number.ts';
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
  add(value: Maybe): void {
    const number = isNumeric(value) ? toDouble(value) : Number.NaN;
    if (Number.isNaN(number)) return;
    this.#hold(16);
    this.#numbers.push(number);
  }

  at(probabilities: readonly number[]): (number | null)[] {
    const sorted = Float64Array.from(this.#numbers).sort();
    return probabilities.map((p) => percentileOf(sorted, p));
  }
}

/** @param sorted ascending. */
export function percentileOf(sorted: ArrayLike<number>, p: number): number | null {
  const count = sorted.length;
  return count === 0 ? null : sorted[p >= 1 ? count - 1 : Math.max(0, Math.ceil(count * p) - 1)]!;
}
