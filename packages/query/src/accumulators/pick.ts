/** Folds that keep single values: the first, last, least and greatest. */

import { compareValues } from '../bson/compare.ts';
import { isNullish } from '../bson/type.ts';
import type { BsonDocument, BsonValue, Maybe } from '../bson/value.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import { compareKeys, sortKeysOf } from '../execute/stages/sort-keys.ts';
import type { SortKey } from '../plan/sort-key.ts';
import { orNull } from '../sql/types/kind.ts';
import type { Accumulators } from './definition.ts';
import type { MergingFold } from './fold.ts';
import { slidingExtreme } from './sliding/extreme.ts';
import { keysAndValue, stateOf } from './top.ts';

type Hold = (bytes: number) => void;

export const pickAccumulators: Accumulators = {
  min: {
    mql: 'expression',
    sql: { name: 'MIN', gives: orNull, compares: true },
    start: (hold, { by }) => (by === undefined ? new Extreme(-1, hold) : new ExtremeInOrder(-1, hold, by)),
    slide: () => slidingExtreme(1),
    decomposes: 'distinct',
    unsorted: 'tieBreak',
  },
  max: {
    mql: 'expression',
    sql: { name: 'MAX', gives: orNull, compares: true },
    start: (hold, { by }) => (by === undefined ? new Extreme(1, hold) : new ExtremeInOrder(1, hold, by)),
    slide: () => slidingExtreme(-1),
    decomposes: 'distinct',
    unsorted: 'tieBreak',
  },
  first: {
    mql: 'expression',
    sql: { name: 'FIRST', gives: orNull },
    start: (hold) => new First(hold),
    decomposes: 'rows',
    unsorted: { as: 'top' },
  },
  last: {
    mql: 'expression',
    sql: { name: 'LAST', gives: orNull },
    start: (hold) => new Last(hold),
    decomposes: 'rows',
    unsorted: { as: 'bottom' },
  },
};

/** A fold whose state is its value. */
abstract class Picked implements MergingFold {
  protected value: Maybe;
  protected readonly hold: Hold;

  constructor(hold: Hold) {
    this.hold = hold;
  }

  abstract add(value: Maybe): void;

  merge(state: BsonValue): void {
    this.add(state);
  }

  result(): BsonValue {
    return this.value ?? null;
  }

  partial(): BsonValue {
    return this.result();
  }
}

class First extends Picked {
  #any = false;

  add(value: Maybe): void {
    if (this.#any) return;
    this.hold(sizeOf(value));
    this.value = value;
    this.#any = true;
  }
}

class Last extends Picked {
  add(value: Maybe): void {
    this.hold(sizeOf(value) - sizeOf(this.value));
    this.value = value;
  }
}

/** Ignores null and missing. */
class Extreme extends Picked {
  readonly #sign: 1 | -1;

  constructor(sign: 1 | -1, hold: Hold) {
    super(hold);
    this.#sign = sign;
  }

  add(value: Maybe): void {
    if (isNullish(value)) return;
    if (this.value !== undefined && compareValues(value, this.value) * this.#sign <= 0) return;
    this.hold(sizeOf(value) - sizeOf(this.value));
    this.value = value;
  }
}

/** Like Extreme over sorted rows: among equal values that differ, it keeps the value of the first row in the order. */
class ExtremeInOrder implements MergingFold {
  readonly #sign: 1 | -1;
  readonly #hold: Hold;
  readonly #by: readonly SortKey[];
  #best: Maybe;
  #keys: BsonValue[] | undefined;

  constructor(sign: 1 | -1, hold: Hold, by: readonly SortKey[]) {
    this.#sign = sign;
    this.#hold = hold;
    this.#by = by;
  }

  add(value: Maybe, row: BsonDocument): void {
    if (!isNullish(value)) this.#offer(value as BsonValue, () => sortKeysOf(row, this.#by));
  }

  merge(state: BsonValue): void {
    const found = keysAndValue(state);
    if (found !== undefined) this.#offer(found.value, () => found.keys);
  }

  result(): BsonValue {
    return this.#best ?? null;
  }

  partial(): BsonValue {
    return stateOf(this.#keys, this.#best);
  }

  #offer(value: BsonValue, keysOf: () => BsonValue[]): void {
    const order = this.#best === undefined ? 1 : compareValues(value, this.#best) * this.#sign;
    if (order < 0) return;
    const keys = keysOf();
    if (order === 0 && compareKeys(keys, this.#keys ?? [], this.#by) >= 0) return;
    this.#hold(sizeOf(value) + sizeOf(keys) - sizeOf(this.#best) - sizeOf(this.#keys));
    this.#best = value;
    this.#keys = keys;
  }
}
