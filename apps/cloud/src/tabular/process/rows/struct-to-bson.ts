/**
 * Converts wire bytes of google.protobuf.Struct to BSON without intermediate objects, because it runs once for each reading.
 *
 * Fields keep their wire order; every number is a double. Text that is not UTF-8 is repaired with U+FFFD, and NUL in a key, which BSON does
 * not allow, becomes U+2400, so that an acknowledged reading stays readable. A repeated key keeps the place of the first occurrence and the
 * value of the last.
 */
import { isUtf8 } from 'node:buffer';
import { describeFault, maxReadingLevels, type StructSink, walkStruct } from '@platform/base';
import { skipValue, writeIndex, writeInt32, writeRepairedText } from './bson-bytes.ts';
import { keepLast } from './keep-last.ts';

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });
const noBytes = /* @__PURE__ */ new Uint8Array();

/** Up to this number of fields, each key is compared with those before it; larger documents collect their keys once. */
const fewFields = 24;

/** Upper bound of the BSON bytes of a Struct with this many wire bytes. */
export function maxBsonBytes(wireBytes: number): number {
  return wireBytes * 5 + 16;
}

/**
 * Writes the Struct in source[start, end) as a BSON document to target at `at`; returns where it ends. `target` must have maxBsonBytes(end
 * - start) free bytes there. Throws when the bytes are not a Struct.
 */
export function writeStruct(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  writer.begin(target, at);
  const fault = walkStruct(source, start, end, writer, maxReadingLevels);
  const to = writer.end();
  if (fault !== null) throw new Error(describeFault(fault, maxReadingLevels));
  return to;
}

class BsonWriter implements StructSink {
  #target: Uint8Array = noBytes;
  #to = 0;
  /** Start of the element whose value comes next; its type is written with the value. */
  #element = 0;
  /** Depth of the innermost open document or list; 0: none is open. */
  #level = 0;
  /** Start of each open document and list. */
  readonly #starts = new Int32Array(maxReadingLevels + 1);
  /** Number of fields so far in each open document. */
  readonly #fields = new Int32Array(maxReadingLevels + 1);
  /** Whether a key was repeated, for each open document. */
  readonly #repeats = new Uint8Array(maxReadingLevels + 1);

  begin(target: Uint8Array, at: number): void {
    this.#target = target;
    this.#to = at;
    this.#level = 0;
  }

  end(): number {
    this.#target = noBytes;
    return this.#to;
  }

  key(bytes: Uint8Array, start: number, end: number): boolean {
    const target = this.#target;
    const element = this.#to;
    const level = this.#level;
    const to = writeKey(bytes, start, end, target, element + 1);
    const fields = (this.#fields[level] as number)++;
    if (fields > 0 && fields < fewFields && isRepeated(target, (this.#starts[level] as number) + 4, element, to))
      this.#repeats[level] = 1;
    this.#element = element;
    this.#to = to;
    return true;
  }

  item(index: number): void {
    this.#element = this.#to;
    this.#to = writeIndex(this.#target, this.#to + 1, index);
  }

  nothing(): void {
    this.#target[this.#element] = 0x0a;
  }

  number(bytes: Uint8Array, at: number): void {
    const target = this.#target;
    let to = this.#to;
    target[this.#element] = 0x01;
    for (let from = at; from < at + 8; from++) target[to++] = bytes[from] as number;
    this.#to = to;
  }

  boolean(value: boolean): void {
    this.#target[this.#element] = 0x08;
    this.#target[this.#to++] = value ? 1 : 0;
  }

  text(bytes: Uint8Array, start: number, end: number): void {
    const target = this.#target;
    const at = this.#to;
    target[this.#element] = 0x02;
    const to = writeText(bytes, start, end, target, at + 4);
    target[to] = 0;
    writeInt32(target, at, to + 1 - at - 4);
    this.#to = to + 1;
  }

  beginDocument(): void {
    this.#open(0x03);
    this.#fields[this.#level] = 0;
    this.#repeats[this.#level] = 0;
  }

  endDocument(): void {
    const level = this.#level;
    const fields = this.#fields[level] as number;
    const first = (this.#starts[level] as number) + 4;
    if (this.#repeats[level] === 1 || fields >= fewFields) this.#to = keepLast(this.#target, first, this.#to, fields);
    this.#close();
  }

  beginList(): void {
    this.#open(0x04);
  }

  endList(): void {
    this.#close();
  }

  #open(type: number): void {
    if (this.#level > 0) this.#target[this.#element] = type;
    this.#starts[++this.#level] = this.#to;
    this.#to += 4;
  }

  #close(): void {
    const start = this.#starts[this.#level--] as number;
    this.#target[this.#to++] = 0;
    writeInt32(this.#target, start, this.#to - start);
  }
}

const writer = /* @__PURE__ */ new BsonWriter();

function writeKey(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let to = at;
  for (let from = start; from < end; from++) {
    const byte = source[from] as number;
    if (byte === 0 || byte >= 0x80) {
      to = writeRepaired(source, start, end, target, at, true);
      break;
    }
    target[to++] = byte;
  }
  target[to++] = 0;
  return to;
}

/** Shorter texts are copied byte by byte, which is faster than a call that copies them at once. */
const fewBytes = 100;

function writeText(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  if (end - start >= fewBytes) return writeRepaired(source, start, end, target, at, false);
  let to = at;
  for (let from = start; from < end; from++) {
    const byte = source[from] as number;
    if (byte >= 0x80) return writeRepaired(source, start, end, target, at, false);
    target[to++] = byte;
  }
  return to;
}

function writeRepaired(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  isKey: boolean,
): number {
  const bytes = source.subarray(start, end);
  if (isUtf8(bytes) && !(isKey && bytes.includes(0))) {
    target.set(bytes, at);
    return at + bytes.length;
  }
  return at + writeRepairedText(utf8.decode(bytes), target, at, isKey);
}

/**
 * Whether the key of an element, which ends at `keyEnd`, occurs in an earlier element. Elements are parsed by the rules by which they were
 * written.
 */
function isRepeated(target: Uint8Array, firstField: number, element: number, keyEnd: number): boolean {
  const keyAt = element + 1;
  const keyBytes = keyEnd - keyAt;
  for (let at = firstField; at < element; ) {
    const type = target[at++];
    let same = true;
    let i = 0;
    for (; ; i++) {
      const byte = target[at + i];
      if (same && (i >= keyBytes || byte !== target[keyAt + i])) same = false;
      if (byte === 0) break;
    }
    if (same) return true;
    at = skipValue(target, at + i + 1, type);
  }
  return false;
}
