/**
 * $median and $percentile: the least number that is at least as great as the given share of all numbers. The result is exact, which is
 * allowed for an approximation too.
 */
import { isNumeric } from '../bson/type.ts';
import { Binary, BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { toDouble } from '../functions/numbers/number.ts';
import type { Accumulator } from '../plan/accumulator.ts';
import type { Accumulators } from './definition.ts';
import type { MergingFold } from './fold.ts';
import { packed, packedNumbers } from './packed-numbers.ts';
import { parseMedian, parsePercentile } from './percentile-operand.ts';
import { quickselect } from './quickselect.ts';
import type { Sliding } from './sliding/sliding.ts';

export const percentileAccumulators: Accumulators = {
  median: {
    mql: parseMedian,
    start: (hold) => new Percentiles(hold, [0.5], (found) => found[0] ?? null),
    slide: slidingPercentile,
    decomposes: 'rows',
    unsorted: 'same',
  },
  percentile: {
    mql: parsePercentile,
    start: (hold, { p = [] }) => new Percentiles(hold, p, (found) => [...found]),
    slide: slidingPercentile,
    decomposes: 'rows',
    unsorted: 'same',
  },
};

/** All numbers of a group: single ones, and those of states, which stay packed until the end. */
export class Percentiles implements MergingFold {
  #numbers = new Float64Array(4);
  #count = 0;
  readonly #states: Float64Array[] = [];
  readonly #counted: Counted[] = [];
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

  /** Ignores NaN and values that are not numbers. */
  add(value: Maybe): void {
    const number = isNumeric(value) ? toDouble(value) : Number.NaN;
    if (Number.isNaN(number)) return;
    this.#hold(8);
    if (this.#count === this.#numbers.length) {
      const grown = new Float64Array(this.#count * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.#count++] = number;
  }

  merge(state: BsonValue): void {
    if (state instanceof BsonDocument) {
      const counted = countedOf(state);
      this.#hold(counted.values.byteLength * 2 + countedBytes);
      this.#counted.push(counted);
      return;
    }
    if (!(state instanceof Binary)) throw new Error('expected packed numbers in a partial group');
    const added = packedNumbers(state);
    this.#hold(added.byteLength);
    this.#states.push(added.subarray(0, withoutNaN(added)));
  }

  partial(): BsonValue {
    const all = this.#all();
    if (this.#counted.length === 0) return packed(all);
    const { values, counts } = joined([
      ...this.#counted,
      { values: all, counts: new Float64Array(all.length).fill(1) },
    ]);
    return BsonDocument.of({ values: packed(values), counts: packed(counts) });
  }

  result(): BsonValue {
    const numbers = this.#all();
    const { length } = numbers;
    if (this.#counted.length > 0) return this.#shown(countedPercentiles(numbers, this.#counted, this.#probabilities));
    return this.#shown(this.#probabilities.map((p) => (length === 0 ? null : quickselect(numbers, rankOf(length, p)))));
  }

  #all(): Float64Array {
    const own = this.#numbers.subarray(0, this.#count);
    return this.#states.length === 0 ? own : endToEnd([...this.#states, own]);
  }
}

/** Overhead of two typed arrays and the object that holds them. */
const countedBytes = 512;

/** Distinct numbers, and how often each occurs. */
interface Counted {
  readonly values: Float64Array;
  readonly counts: Float64Array;
}

function countedOf(state: BsonDocument): Counted {
  const [values, counts] = [state.get('values'), state.get('counts')];
  if (!(values instanceof Binary) || !(counts instanceof Binary))
    throw new Error('expected packed values and counts in a partial group');
  return { values: packedNumbers(values), counts: packedNumbers(counts) };
}

function joined(all: readonly Counted[]): Counted {
  return { values: endToEnd(all.map(({ values }) => values)), counts: endToEnd(all.map(({ counts }) => counts)) };
}

function endToEnd(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @param numbers each occurs once; they are reordered. */
function countedPercentiles(
  numbers: Float64Array,
  all: readonly Counted[],
  probabilities: readonly number[],
): (number | null)[] {
  const { values, counts } = joined(all);
  const order = Uint32Array.from(values.keys()).filter((index) => !Number.isNaN(values[index]!));
  order.sort((a, b) => compare(values[a]!, values[b]!));
  numbers.sort();
  const total = order.reduce((sum, index) => sum + counts[index]!, numbers.length);
  if (total === 0) return probabilities.map(() => null);
  const valueAt = (rank: number): number => {
    let before = 0;
    let single = 0;
    for (const index of order) {
      const value = values[index]!;
      for (; single < numbers.length && compare(numbers[single]!, value) <= 0; single++)
        if (before++ === rank) return numbers[single]!;
      before += counts[index]!;
      if (rank < before) return value;
    }
    return numbers[single + rank - before]!;
  };
  return probabilities.map((p) => valueAt(rankOf(total, p)));
}

/** The order of a typed array: -0 comes before 0. */
function compare(a: number, b: number): number {
  return a - b || 1 / a - 1 / b;
}

/** Moves all numbers except NaN to the front. @returns how many there are */
function withoutNaN(numbers: Float64Array): number {
  let count = 0;
  while (count < numbers.length && !Number.isNaN(numbers[count]!)) count++;
  for (let index = count + 1; index < numbers.length; index++) {
    const number = numbers[index]!;
    if (!Number.isNaN(number)) numbers[count++] = number;
  }
  return count;
}

/** $median and $percentile of a moving window: its numbers in order. */
function slidingPercentile(spec: Accumulator, hold: (bytes: number) => void): Sliding {
  const sorted: number[] = [];
  const { p = [0.5] } = spec;
  const change = (value: Maybe, by: 1 | -1): void => {
    const number = isNumeric(value) ? toDouble(value) : Number.NaN;
    if (Number.isNaN(number)) return;
    hold(8 * by);
    const at = placeOf(sorted, number);
    if (by === 1) sorted.splice(at, 0, number);
    else sorted.splice(at, 1);
  };
  return {
    add: (value) => change(value, 1),
    remove: (value) => change(value, -1),
    result: () => {
      const found = p.map((each) => percentileOf(sorted, each));
      return spec.fn === 'median' ? found[0]! : found;
    },
  };
}

/** The position of the first number that is not less. */
function placeOf(sorted: readonly number[], number: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Finds a percentile among sorted numbers. @param sorted ascending. */
function percentileOf(sorted: ArrayLike<number>, p: number): number | null {
  const count = sorted.length;
  return count === 0 ? null : sorted[rankOf(count, p)]!;
}

/** The position, from 0, of the percentile among this many sorted numbers. */
function rankOf(count: number, p: number): number {
  return p >= 1 ? count - 1 : Math.max(0, Math.ceil(count * p) - 1);
}
