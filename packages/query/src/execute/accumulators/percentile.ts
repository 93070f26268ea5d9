/** $median and $percentile, exact with every method: 'approximate' gives what 'discrete' does. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { isNumeric } from '../../bson/type.ts';
import { Decimal128, Int32 } from '../../bson/value.ts';
import type { PercentileMethod } from '../../plan/stage.ts';
import type { Folds } from './fold.ts';

export const percentileFolds: Folds<'median' | 'percentile'> = {
  median: (hold, spec) => {
    const numbers = new Numbers(hold);
    return { add: (value) => numbers.add(value), result: () => numbers.at(0.5, spec.method) };
  },
  percentile: (hold, spec) => {
    const numbers = new Numbers(hold);
    return {
      add: (value) => numbers.add(value),
      result: () => (spec.p ?? []).map((p) => numbers.at(p, spec.method)),
    };
  },
};

class Numbers {
  readonly #numbers: number[] = [];
  readonly #hold: (bytes: number) => void;
  #sorted = false;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  /** What is not a number does not take part. */
  add(value: unknown): void {
    const number = numberOf(value);
    if (number === undefined) return;
    this.#hold(8);
    this.#numbers.push(number);
  }

  at(p: number, method: PercentileMethod = 'approximate'): number | null {
    if (!this.#sorted)
      this.#numbers.sort((left, right) => (left < right ? -1 : left > right ? 1 : nanFirst(left, right)));
    this.#sorted = true;
    return percentileOf(this.#numbers, p, method);
  }
}

function nanFirst(left: number, right: number): number {
  return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  return value instanceof Decimal128 && isNumeric(value) ? decimalToNumber(value) : undefined;
}

/** @param sorted ascending, NaN first. */
export function percentileOf(sorted: readonly number[], p: number, method: PercentileMethod): number | null {
  const count = sorted.length;
  if (count === 0) return null;
  if (method !== 'continuous') return sorted[p >= 1 ? count - 1 : Math.max(0, Math.ceil(count * p) - 1)]!;
  const rank = p * (count - 1);
  const [low, high] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!];
  return low === high ? low : low * (Math.ceil(rank) - rank) + high * (rank - Math.floor(rank));
}
