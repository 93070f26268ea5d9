/** The document of a reading as plain values. */
import { dataLoss, doubleAt, maxReadingLevels, type StructSink, walkStruct } from '@platform/base';
import { cachedText } from './cached-text.ts';
import type { KeyNode } from './key-filter.ts';

export type Document = Record<string, unknown>;

/**
 * Decodes the Struct in bytes[start..end). Throws data_loss if the bytes are not a Struct.
 * @param only keys to read; values under other keys are skipped, unchecked. Default: all.
 */
export function readDocument(bytes: Uint8Array, start: number, end: number, only?: KeyNode): Document {
  values.select(only);
  const fault = walkStruct(bytes, start, end, values, maxReadingLevels);
  const document = values.take();
  if (fault === 'too deep') throw dataLoss(`expected at most ${maxReadingLevels} levels in a reading, found more`);
  if (fault !== null || document === undefined)
    throw dataLoss('expected a document, found other bytes or a part of one');
  return document;
}

type Container = Document | unknown[];

/**
 * Creates documents that inherit no keys, so that __proto__ is a key like any other. Unlike those of Object.create(null), they have fixed
 * shapes, which take a third of the memory.
 */
const PlainDocument = /* @__PURE__ */ (() => {
  function Plain(): void {}
  Plain.prototype = Object.create(null);
  return Plain as unknown as new () => Document;
})();

/** A document without keys, not even inherited ones. */
export function newDocument(): Document {
  return new PlainDocument();
}

class Values implements StructSink {
  #root: Document | undefined;
  readonly #open: Container[] = [];
  /** The wanted keys of each open container; undefined: all. */
  readonly #wanted: (KeyNode | undefined)[] = [];
  #inner: Container | undefined;
  #key = '';
  /** The wanted keys of the next value. */
  #below: KeyNode | undefined;

  select(keys: KeyNode | undefined): void {
    this.#below = keys;
  }

  /** Returns the document read since the last call. */
  take(): Document | undefined {
    const root = this.#root;
    this.#root = undefined;
    this.#inner = undefined;
    this.#open.length = 0;
    this.#wanted.length = 0;
    return root;
  }

  key(bytes: Uint8Array, start: number, end: number): boolean {
    const keys = this.#wanted.at(-1);
    if (keys === undefined) {
      this.#key = cachedText(bytes, start, end);
      return true;
    }
    const found = keys.find(bytes, start, end);
    if (found === undefined) return false;
    this.#key = found.key;
    this.#below = found.below;
    return true;
  }

  item(): void {}

  nothing(): void {
    this.#put(null);
  }

  number(bytes: Uint8Array, at: number): void {
    this.#put(doubleAt(bytes, at));
  }

  boolean(value: boolean): void {
    this.#put(value);
  }

  text(bytes: Uint8Array, start: number, end: number): void {
    this.#put(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
  }

  beginDocument(): void {
    const document: Document = new PlainDocument();
    if (this.#inner === undefined) this.#root = document;
    else this.#put(document);
    this.#enter(document);
  }

  endDocument(): void {
    this.#leave();
  }

  beginList(): void {
    const list: unknown[] = [];
    this.#put(list);
    // The filter applies only to keys with no list above them.
    this.#below = undefined;
    this.#enter(list);
  }

  endList(): void {
    this.#leave();
  }

  #put(value: unknown): void {
    const inner = this.#inner;
    if (Array.isArray(inner)) inner.push(value);
    else if (inner !== undefined) inner[this.#key] = value;
  }

  #enter(container: Container): void {
    this.#open.push(container);
    this.#wanted.push(this.#below);
    this.#below = undefined;
    this.#inner = container;
  }

  #leave(): void {
    this.#open.pop();
    this.#wanted.pop();
    this.#inner = this.#open.at(-1);
  }
}

const values = /* @__PURE__ */ new Values();
