/** Values once each, whatever types equal ones have: the first one stays. */

import { compareValues } from '../../bson/compare.ts';
import { Binary, BsonDocument, type BsonValue } from '../../bson/value.ts';
import { KeyMap } from '../key-map.ts';
import { sizeOf } from '../size.ts';
import { packed, packedNumbers } from './packed-numbers.ts';

export class ValueSet {
  readonly #values = new KeyMap<BsonValue>();
  readonly #hold: (bytes: number) => void;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  get size(): number {
    return this.#values.all.length;
  }

  /** @returns whether it was not there yet. */
  add(value: BsonValue): boolean {
    if (this.#values.get(value) !== undefined) return false;
    this.#hold(sizeOf(value) + this.#values.set(value, value));
    return true;
  }

  /** In the order in which they came. */
  values(): BsonValue[] {
    return [...this.#values.all];
  }

  /** Ascending, whatever the order of the rows. */
  sorted(): BsonValue[] {
    return this.values().sort(compareValues);
  }

  /** As in plan/partial-state.ts. */
  state(): BsonDocument {
    const numbers = this.#values.all.filter((value) => typeof value === 'number');
    const others = this.#values.all.filter((value) => typeof value !== 'number');
    return BsonDocument.of({
      ...(numbers.length > 0 && { doubles: packed(Float64Array.from(numbers)) }),
      ...(others.length > 0 && { values: others }),
    });
  }
}

/** The values of such a state. */
export function* valuesOf(state: BsonValue): Generator<BsonValue> {
  if (!(state instanceof BsonDocument)) throw new Error('expected a set of values in a partial group');
  const [numbers, others] = [state.get('doubles'), state.get('values')];
  if (numbers instanceof Binary) yield* packedNumbers(numbers);
  if (Array.isArray(others)) yield* others;
}
