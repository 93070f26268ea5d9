/** $min and $max of a moving window: keeps, in order, only values that may still become the extreme. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish } from '../../bson/type.ts';
import type { BsonValue, Maybe } from '../../bson/value.ts';
import type { Sliding } from './sliding.ts';

/** Ignores null and missing. Among equal values, the minimum is the first one and the maximum the last. */
export function slidingExtreme(sign: 1 | -1): Sliding {
  let kept: { readonly value: BsonValue; readonly order: number }[] = [];
  let head = 0;
  let came = 0;
  let left = 0;
  return {
    add: (value: Maybe) => {
      const order = came++;
      if (isNullish(value)) return;
      while (kept.length > head) {
        const difference = compareValues(kept[kept.length - 1]!.value, value) * sign;
        if (difference > 0 || (difference === 0 && sign === -1)) kept.pop();
        else break;
      }
      kept.push({ value: value as BsonValue, order });
    },
    remove: () => {
      if (kept[head]?.order === left++) head++;
      if (head < 1024 || head * 2 < kept.length) return;
      kept = kept.slice(head);
      head = 0;
    },
    result: () => kept[head]?.value ?? null,
  };
}
