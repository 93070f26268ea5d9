/** Writes values as BSON bytes. Omits a missing field; a missing array element becomes null, as in MongoDB. */

import { QueryError } from '../query-error.ts';
import { maxDepth } from './decode.ts';
import { writeText } from './text.ts';
import { typeName, typeNumbers } from './type.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  type Maybe,
  ObjectId,
  Regex,
  Timestamp,
} from './value.ts';

/** @param levels maximum levels of nesting. */
export function encodeBson(document: BsonDocument, levels: number = maxDepth): Uint8Array {
  const writer = spare ?? new BsonWriter();
  // After a failure, the writer is not reused.
  spare = undefined;
  writer.document(document, 1 + maxDepth - levels);
  const bytes = writer.take();
  if (bytes.length <= spareBytes) spare = writer;
  return bytes;
}

/** Reused, because most documents are small, and allocating a buffer for each costs more than writing it. */
let spare: BsonWriter | undefined;
const spareBytes = 64 * 1024;

/** A larger buffer that is more than half full is handed over itself: copying costs more than the unused space. */
const keptBytes = 1 << 20;

/** Writes documents end to end into a growing buffer. */
export class BsonWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;

  constructor(initialBytes = 512) {
    this.#bytes = new Uint8Array(initialBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#at;
  }

  /** Returns what was written and starts again. */
  take(): Uint8Array {
    const written = this.#bytes.subarray(0, this.#at);
    const isFull = this.#at > keptBytes && this.#at > this.#bytes.length / 2;
    this.#at = 0;
    if (!isFull) return written.slice();
    this.#bytes = new Uint8Array(512);
    this.#view = new DataView(this.#bytes.buffer);
    return written;
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  document(document: BsonDocument, depth = 1): void {
    const start = this.#open(depth);
    for (const [key, value] of document) this.#field(key, value, depth);
    this.#close(start);
  }

  #open(depth: number): number {
    if (depth > maxDepth) throw new QueryError('Overflow', `a document is nested deeper than ${maxDepth} levels`);
    this.#room(5);
    this.#at += 4;
    return this.#at - 4;
  }

  #close(start: number): void {
    this.#room(1);
    this.#bytes[this.#at++] = 0;
    this.#view.setInt32(start, this.#at - start, true);
  }

  #room(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + size));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  #field(key: string, value: Maybe, depth: number): void {
    if (value === undefined) return;
    this.#room(key.length * 3 + 32);
    const typeAt = this.#at++;
    this.#at += writeText(key, this.#bytes, this.#at);
    this.#bytes[this.#at++] = 0;
    // Value first, because writing it may replace the buffer.
    const type = this.#value(value, depth);
    this.#bytes[typeAt] = type;
  }

  #string(text: string): void {
    this.#room(text.length * 3 + 5);
    const size = writeText(text, this.#bytes, this.#at + 4);
    this.#view.setInt32(this.#at, size + 1, true);
    this.#at += size + 4;
    this.#bytes[this.#at++] = 0;
  }

  #cstring(text: string): void {
    this.#room(text.length * 3 + 1);
    this.#at += writeText(text, this.#bytes, this.#at);
    this.#bytes[this.#at++] = 0;
  }

  #int64(value: bigint): void {
    this.#view.setBigInt64(this.#at, value, true);
    this.#at += 8;
  }

  /** Writes the value and returns its type byte; there is already room for 32 bytes. */
  #value(value: BsonValue, depth: number): number {
    if (typeof value === 'number') {
      this.#view.setFloat64(this.#at, value, true);
      this.#at += 8;
      return 0x01;
    }
    if (typeof value === 'string') {
      this.#string(value);
      return 0x02;
    }
    if (value instanceof BsonDocument) {
      this.document(value, depth + 1);
      return 0x03;
    }
    if (value instanceof Int32) {
      this.#view.setInt32(this.#at, value.value, true);
      this.#at += 4;
      return 0x10;
    }
    if (Array.isArray(value)) this.#array(value, depth + 1);
    else if (value instanceof BsonDate) this.#int64(value.int64);
    else if (typeof value === 'boolean') this.#bytes[this.#at++] = value ? 1 : 0;
    else if (typeof value === 'bigint') this.#int64(value);
    else this.#rare(value, depth);
    const name = typeName(value);
    return name === 'missing' ? 0x06 : typeNumbers[name] & 0xff;
  }

  #rare(value: BsonValue, depth: number): void {
    if (value instanceof Timestamp) this.#int64(BigInt.asIntN(64, value.value));
    else if (value instanceof ObjectId || value instanceof Decimal128) this.raw(value.bytes);
    else if (value instanceof Binary) {
      this.#view.setInt32(this.#at, value.bytes.length, true);
      this.#at += 4;
      this.#bytes[this.#at++] = value.subtype;
      this.raw(value.bytes);
    } else if (value instanceof Regex) {
      this.#cstring(value.pattern);
      this.#cstring(value.options);
    } else if (value instanceof Code) this.#code(value, depth);
    else if (value instanceof BsonSymbol) this.#string(value.value);
    else if (value instanceof DbPointer) {
      this.#string(value.namespace);
      this.raw(value.id.bytes);
    }
  }

  #array(values: readonly Maybe[], depth: number): void {
    const start = this.#open(depth);
    for (let index = 0; index < values.length; index++) this.#field(String(index), values[index] ?? null, depth);
    this.#close(start);
  }

  #code(value: Code, depth: number): void {
    if (value.scope === undefined) {
      this.#string(value.code);
      return;
    }
    const start = this.#at;
    this.#at += 4;
    this.#string(value.code);
    this.document(value.scope, depth + 1);
    this.#view.setInt32(start, this.#at - start, true);
  }
}
