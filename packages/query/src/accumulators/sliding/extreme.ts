/** $min and $max of a window that moves: only values that may yet become the extreme are kept, in order. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish } from '../../bson/type.ts';
import type { BsonValue, Maybe } from '../../bson/value.ts';
import type { Sliding } from './sliding.ts';

/** Null and missing do not take part. Of equal values the least is the one that came first, the greatest the last. */
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
