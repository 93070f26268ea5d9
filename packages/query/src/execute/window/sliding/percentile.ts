/** $median and $percentile of a window that moves: its numbers in order. */

import { isNumeric } from '../../../bson/type.ts';
import type { Maybe } from '../../../bson/value.ts';
import type { Accumulator } from '../../../plan/stage.ts';
import { percentileOf } from '../../accumulators/percentile.ts';
import { toDouble } from '../../functions/number.ts';
import type { Sliding } from './sliding.ts';

export function slidingPercentile(spec: Accumulator, hold: (bytes: number) => void): Sliding {
  const sorted: number[] = [];
  const { p = [0.5], method = 'approximate' } = spec;
  return {
    add: (value: Maybe) => {
      if (!isNumeric(value)) return;
      hold(8);
      const number = toDouble(value);
      sorted.splice(placeOf(sorted, number), 0, number);
    },
    remove: (value: Maybe) => {
      if (!isNumeric(value)) return;
      hold(-8);
      sorted.splice(placeOf(sorted, toDouble(value)), 1);
    },
    result: () => {
      const found = p.map((each) => percentileOf(sorted, each, method));
      return spec.fn === 'median' ? found[0]! : found;
    },
  };
}

/** Where the first number stands that is not less; NaN is the least. */
function placeOf(sorted: readonly number[], number: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle]!;
    if (Number.isNaN(number) ? false : Number.isNaN(other) || other < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
