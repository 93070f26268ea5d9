/** $addToSet of a moving window: how often each value is in it. */

import { valueKey } from '../../bson/key.ts';
import type { BsonValue, Maybe } from '../../bson/value.ts';
import { sizeOf } from '../../execute/limits/size.ts';
import type { Sliding } from './sliding.ts';

export function slidingSet(hold: (bytes: number) => void): Sliding {
  const values = new Map<string, { readonly value: BsonValue; times: number }>();
  return {
    add: (value: Maybe) => {
      if (value === undefined) return;
      const id = valueKey(value);
      const known = values.get(id);
      if (known !== undefined) known.times++;
      else {
        values.set(id, { value, times: 1 });
        hold(sizeOf(value) + id.length);
      }
    },
    remove: (value: Maybe) => {
      if (value === undefined) return;
      const id = valueKey(value);
      const known = values.get(id);
      if (known === undefined || --known.times > 0) return;
      values.delete(id);
      hold(-sizeOf(known.value) - id.length);
    },
    result: () => [...values.values()].map(({ value }) => value),
  };
}
