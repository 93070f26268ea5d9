/** $median and $percentile: the least number that so many of all do not exceed, exactly; an approximation may be exact. */

import { isNumeric } from '../../bson/type.ts';
import { Binary, type BsonValue, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../functions/number.ts';
import type { MergingFold, MergingFolds } from './fold.ts';
import { packed, packedNumbers } from './packed-numbers.ts';
import { selected } from './selected.ts';

export const percentileFolds: MergingFolds<'median' | 'percentile'> = {
  median: (hold) => new Percentiles(hold, [0.5], (found) => found[0] ?? null),
  percentile: (hold, { p = [] }) => new Percentiles(hold, p, (found) => [...found]),
};

/** All numbers of a group, packed. */
class Percentiles implements MergingFold {
  #numbers = new Float64Array(4);
  #count = 0;
  readonly #hold: (bytes: number) => void;
  readonly #probabilities: readonly number[];
  readonly #shown: (found: readonly (number | null)[]) => BsonValue;

  constructor(
    hold: (bytes: number) => void,
    probabilities: readonly number[],
    shown: (found: readonly (number | null)[]) => BsonValue,
  ) {
    this.#hold = hold;
    this.#probabilities = probabilities;
    this.#shown = shown;
  }

  /** What is not a number does not take part, nor does NaN. */
  add(value: Maybe): void {
    const number = isNumeric(value) ? toDouble(value) : Number.NaN;
    if (Number.isNaN(number)) return;
    this.#room(1);
    this.#numbers[this.#count++] = number;
  }

  merge(state: BsonValue): void {
    if (!(state instanceof Binary)) throw new Error('expected packed numbers in a partial group');
    const added = packedNumbers(state);
    if (this.#count === 0) {
      this.#hold(added.byteLength);
      this.#numbers = added;
      this.#count = withoutNaN(added);
      return;
    }
    this.#room(added.length);
    const count = withoutNaN(added);
    this.#numbers.set(added.subarray(0, count), this.#count);
    this.#count += count;
  }

  partial(): BsonValue {
    return packed(this.#numbers.subarray(0, this.#count));
  }

  result(): BsonValue {
    const numbers = this.#numbers.subarray(0, this.#count);
    return this.#shown(
      this.#probabilities.map((p) => (this.#count === 0 ? null : selected(numbers, rankOf(this.#count, p)))),
    );
  }

  #room(more: number): void {
    this.#hold(8 * more);
    const needed = this.#count + more;
    if (needed <= this.#numbers.length) return;
    const grown = new Float64Array(Math.max(needed, this.#numbers.length * 2));
    grown.set(this.#numbers.subarray(0, this.#count));
    this.#numbers = grown;
  }
}

/** Moves those that are numbers to the front. @returns how many they are */
function withoutNaN(numbers: Float64Array): number {
  let count = 0;
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index]!;
    if (!Number.isNaN(number)) numbers[count++] = number;
  }
  return count;
}

/** @param sorted ascending. */
export function percentileOf(sorted: ArrayLike<number>, p: number): number | null {
  const count = sorted.length;
  return count === 0 ? null : sorted[rankOf(count, p)]!;
}

/** The place, from 0, of the percentile among so many sorted numbers. */
function rankOf(count: number, p: number): number {
  return p >= 1 ? count - 1 : Math.max(0, Math.ceil(count * p) - 1);
}
