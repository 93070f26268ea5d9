/** A map whose keys are values: values that compare as equal are one key, whatever their types. */

import { valueKey } from '../bson/key.ts';
import { BsonDate, BsonSymbol, type BsonValue, Decimal128, Int32 } from '../bson/value.ts';
import { toDouble } from '../functions/numbers/number.ts';

export class KeyMap<T> {
  /** In insertion order. */
  readonly all: T[] = [];
  /** Texts, numbers and times, which most keys are, have their own maps. */
  readonly #texts = new Map<string, T>();
  readonly #numbers = new Map<number, T>();
  readonly #times = new Map<number, T>();
  readonly #others = new Map<string, T>();

  get(key: BsonValue): T | undefined {
    if (typeof key === 'string') return this.#texts.get(key);
    if (key instanceof BsonSymbol) return this.#texts.get(key.value);
    if (key instanceof BsonDate) return this.#times.get(key.ms);
    const number = numberOf(key);
    return number === undefined ? this.#others.get(valueKey(key)) : this.#numbers.get(number);
  }

  /** The value of a key that was set with this id. */
  getById(id: string): T | undefined {
    return this.#others.get(id);
  }

  /** @param id a text that only equal keys share; default: valueKey. @returns the length of the text that identifies the key. */
  set(key: BsonValue, value: T, id: string | undefined = undefined): number {
    this.all.push(value);
    if (id !== undefined) {
      this.#others.set(id, value);
      return id.length;
    }
    const text = typeof key === 'string' ? key : key instanceof BsonSymbol ? key.value : undefined;
    if (text !== undefined) {
      this.#texts.set(text, value);
      return text.length;
    }
    if (key instanceof BsonDate) {
      this.#times.set(key.ms, value);
      return numberBytes;
    }
    const number = numberOf(key);
    if (number !== undefined) {
      this.#numbers.set(number, value);
      return numberBytes;
    }
    const own = valueKey(key);
    this.#others.set(own, value);
    return own.length;
  }
}

const numberBytes = 8;

/** The key as a double if that is exact and not a whole number, which several types could hold differently; -0 is 0, NaN is itself. */
function numberOf(key: BsonValue): number | undefined {
  if (typeof key === 'number') return isOwn(key) ? key : undefined;
  if (key instanceof Int32) return key.value;
  if (typeof key === 'bigint') return isOwn(Number(key)) ? Number(key) : undefined;
  if (!(key instanceof Decimal128)) return undefined;
  const nearest = toDouble(key);
  return isOwn(nearest) && valueKey(key) === valueKey(nearest) ? nearest : undefined;
}

function isOwn(number: number): boolean {
  return Number.isSafeInteger(number) || !Number.isInteger(number);
}
