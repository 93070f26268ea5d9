/** A map whose keys are values: those that compare as equal are one key, whatever their types. */

import { valueKey } from '../bson/key.ts';
import { BsonSymbol, type BsonValue } from '../bson/value.ts';

export class KeyMap<T> {
  /** In the order in which they were set. */
  readonly all: T[] = [];
  /** Texts, of which most keys consist, by themselves. */
  readonly #texts = new Map<string, T>();
  readonly #others = new Map<string, T>();

  get(key: BsonValue): T | undefined {
    if (typeof key === 'string') return this.#texts.get(key);
    return key instanceof BsonSymbol ? this.#texts.get(key.value) : this.#others.get(valueKey(key));
  }

  /** The value of a key that was set with this text. */
  getById(id: string): T | undefined {
    return this.#others.get(id);
  }

  /**
   * @param id a text that only equal keys have, if not that of valueKey.
   * @returns the length of the text by which the key is known.
   */
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
    const own = valueKey(key);
    this.#others.set(own, value);
    return own.length;
  }
}
