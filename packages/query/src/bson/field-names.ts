/**
 * The names of fields in rows, and which of them to read. Rows repeat the same names in much the same order, so each name remembers its
 * successor: usually the bytes only have to be compared with that one.
 */

import { repeatedText } from './text.ts';

/** Which fields to read: the others are skipped without decoding. `true` is the whole value. */
export type Mask = ReadonlyMap<string, Mask> | true;

export interface FieldName {
  readonly text: string;
  /** With the terminating zero. */
  readonly bytes: Uint8Array;
  /** The same bytes in groups of four, as little-endian numbers; the last groups may overlap. Empty for fewer than four bytes. */
  readonly words: readonly number[];
  /** How to read documents in this field; undefined: the field is not read. */
  readonly below: FieldNames | undefined;
  /** The name that followed last time. */
  next: FieldName | undefined;
  /** The first name of the last document in this field. */
  inside: FieldName | undefined;
}

/** How many names are remembered; further ones are read in full each time. */
const maxNames = 1000;

export class FieldNames {
  readonly #mask: Mask;
  readonly #names = new Map<string, FieldName>();
  /** The first name of the last row. */
  first: FieldName | undefined;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** @param end position of the zero that ends the name. */
  at(bytes: Uint8Array, start: number, end: number): FieldName {
    const text = repeatedText(bytes, start, end);
    const known = this.#names.get(text);
    // Bytes that are not UTF-8 may decode to the same text as others.
    if (known !== undefined && isSame(known.bytes, bytes, start, end + 1)) return known;
    const own = bytes.slice(start, end + 1);
    const words = wordsOf(own);
    const name = { text, bytes: own, words, below: this.#below(text), next: undefined, inside: undefined };
    if (known === undefined && this.#names.size < maxNames) this.#names.set(text, name);
    return name;
  }

  #below(name: string): FieldNames | undefined {
    if (this.#mask === true) return this;
    const mask = this.#mask.get(name);
    return mask === undefined ? undefined : new FieldNames(mask);
  }
}

/** Whether the bytes of the view at `at` are the name; `end` is where the document ends. */
export function isAt(name: FieldName, view: DataView, at: number, end: number): boolean {
  const { length } = name.bytes;
  if (at + length > end) return false;
  const { words } = name;
  const last = words.length - 1;
  if (last < 0) {
    for (let index = 0; index < length; index++) if (view.getUint8(at + index) !== name.bytes[index]) return false;
    return true;
  }
  for (let index = 0; index < last; index++) if (view.getInt32(at + 4 * index, true) !== words[index]) return false;
  return view.getInt32(at + length - 4, true) === words[last];
}

function isSame(name: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  return name.length === end - start && name.every((byte, index) => byte === bytes[start + index]);
}

function wordsOf(bytes: Uint8Array): number[] {
  if (bytes.length < 4) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = Math.ceil(bytes.length / 4);
  return Array.from({ length: count }, (_, index) => view.getInt32(Math.min(4 * index, bytes.length - 4), true));
}
