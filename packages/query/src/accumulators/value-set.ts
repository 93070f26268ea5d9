/** A set of values in which equal values of different types are one: the first one stays. */
import { compareValues } from '../bson/compare.ts';
import { isNullish } from '../bson/type.ts';
import { Binary, BsonDate, BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { KeyMap } from '../execute/key-map.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import { packed, packedNumbers } from './packed-numbers.ts';

export class ValueSet {
  readonly #values = new KeyMap<BsonValue>();
  readonly #hold: (bytes: number) => void;
  #known = 0;
  /** The state of the only source so far; it is not unpacked until another source adds values. */
  #only: SetState | undefined;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  get size(): number {
    return this.#only === undefined ? this.#values.all.length : sizeOfState(this.#only);
  }

  /** How many values are known, without null and documents that hold nothing else. */
  get known(): number {
    const only = this.#only;
    return only === undefined ? this.#known : sizeOfState({ ...only, values: only.values.filter(holdsValue) });
  }

  /** @returns whether the value was new. */
  add(value: BsonValue): boolean {
    this.#takeApart();
    if (this.#values.get(value) !== undefined) return false;
    this.#hold(sizeOf(value) + this.#values.set(value, value));
    if (holdsValue(value)) this.#known++;
    return true;
  }

  merge(state: BsonValue): void {
    const found = readState(state);
    if (this.size === 0) {
      this.#hold(bytesOf(found));
      this.#only = found;
    } else for (const value of itemsOf(found)) this.add(value);
  }

  /** In the order in which they were added. */
  values(): BsonValue[] {
    this.#takeApart();
    return [...this.#values.all];
  }

  /** Ascending, whatever the order of the rows. */
  sorted(): BsonValue[] {
    return this.values().sort(compareValues);
  }

  /** As described in plan/partial-state.ts. */
  state(): BsonDocument {
    const numbers: number[] = [];
    const times: number[] = [];
    const values: BsonValue[] = [];
    for (const value of this.values()) {
      if (typeof value === 'number') numbers.push(value);
      else if (value instanceof BsonDate) times.push(value.ms);
      else values.push(value);
    }
    return BsonDocument.of({
      ...(numbers.length > 0 && { doubles: packed(Float64Array.from(numbers)) }),
      ...(times.length > 0 && { times: packed(Float64Array.from(times)) }),
      ...(values.length > 0 && { values }),
    });
  }

  #takeApart(): void {
    const only = this.#only;
    if (only === undefined) return;
    this.#only = undefined;
    this.#hold(-bytesOf(only));
    for (const value of itemsOf(only)) this.add(value);
  }
}

interface SetState {
  readonly numbers: Float64Array;
  readonly times: Float64Array;
  readonly values: readonly BsonValue[];
}

const noNumbers = new Float64Array();

/** The values of such a state. */
export function valuesOf(state: BsonValue): Generator<BsonValue> {
  return itemsOf(readState(state));
}

function readState(state: BsonValue): SetState {
  if (!(state instanceof BsonDocument)) throw new Error('expected a set of values in a partial group');
  const values = state.get('values');
  const numbersOf = (name: string): Float64Array => {
    const found = state.get(name);
    return found instanceof Binary ? packedNumbers(found) : noNumbers;
  };
  return { numbers: numbersOf('doubles'), times: numbersOf('times'), values: Array.isArray(values) ? values : [] };
}

function* itemsOf({ numbers, times, values }: SetState): Generator<BsonValue> {
  yield* numbers;
  for (const time of times) yield new BsonDate(time);
  yield* values;
}

function sizeOfState({ numbers, times, values }: SetState): number {
  return numbers.length + times.length + values.length;
}

function bytesOf({ numbers, times, values }: SetState): number {
  return numbers.byteLength + times.byteLength + values.reduce<number>((sum, value) => sum + 8 + sizeOf(value), 32);
}

/** What COUNT of SQL counts. Whether the value is neither null nor missing; for a document, whether at least one of its values is not. */
export function holdsValue(value: Maybe): boolean {
  return value instanceof BsonDocument ? ![...value.values()].every(isNullish) : !isNullish(value);
}
