/** $median and $percentile of a moving window: its numbers in order. */

import { isNumeric } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { Accumulator } from '../../plan/accumulator.ts';
import { percentileOf } from '../percentile-rank.ts';
import type { Sliding } from './sliding.ts';

export function slidingPercentile(spec: Accumulator, hold: (bytes: number) => void): Sliding {
  const sorted: number[] = [];
  const { p = [0.5] } = spec;
  return {
    add: (value: Maybe) => {
      const number = isNumeric(value) ? toDouble(value) : Number.NaN;
      if (Number.isNaN(number)) return;
      hold(8);
      sorted.splice(placeOf(sorted, number), 0, number);
    },
    remove: (value: Maybe) => {
      const number = isNumeric(value) ? toDouble(value) : Number.NaN;
      if (Number.isNaN(number)) return;
      hold(-8);
      sorted.splice(placeOf(sorted, number), 1);
    },
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
