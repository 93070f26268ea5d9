/** The document of a reading as plain values. */
import { PlatformError } from '@platform/base';
import { knownText } from './known-text.ts';
import { storedLevels } from './stored-levels.ts';
import { type StructSink, walkStruct } from './walk-struct.ts';
import { doubleAt } from './wire-reader.ts';

export type Document = Record<string, unknown>;

/** Of the Struct in bytes[start..end). Throws data_loss when they are none. */
export function readDocument(bytes: Uint8Array, start: number, end: number): Document {
  const fault = walkStruct(bytes, start, end, values, storedLevels);
  const document = values.take();
  if (fault === 'too deep')
    throw new PlatformError('data_loss', `expected at most ${storedLevels} levels in a reading, found more`);
  if (fault !== null || document === undefined)
    throw new PlatformError('data_loss', 'expected a document, found other bytes or a part of one');
  return document;
}

type Container = Document | unknown[];

class Values implements StructSink {
  #root: Document | undefined;
  readonly #open: Container[] = [];
  #inner: Container | undefined;
  #key = '';

  /** What was read since the last time. */
  take(): Document | undefined {
    const root = this.#root;
    this.#root = undefined;
    this.#inner = undefined;
    this.#open.length = 0;
    return root;
  }

  key(bytes: Uint8Array, start: number, end: number): void {
    this.#key = knownText(bytes, start, end);
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
    // Without prototype: a key named __proto__ is a key like any other.
    const document: Document = Object.create(null);
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
    this.#inner = container;
  }

  #leave(): void {
    this.#open.pop();
    this.#inner = this.#open.at(-1);
  }
}

const values = /* @__PURE__ */ new Values();
