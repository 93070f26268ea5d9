/** Reads BSON bytes into values; the sizes inside are checked, so damaged bytes end in an error and never in a wrong read. */

import { QueryError } from '../query-error.ts';
import { keyText, textOfBytes } from './text.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from './value.ts';

/** Which fields to read: absent ones are skipped without being looked at. `true` is the whole value. */
export type Mask = ReadonlyMap<string, Mask> | true;

/** Levels of nesting that are read; MongoDB's own limit is 100 for stored documents, 180 in all. */
export const maxDepth = 200;

/**
 * Reads the document that starts at `start`. With a mask only the named fields are read (arrays always whole).
 * @param levels of nesting that are read before it is an error.
 * @throws QueryError InvalidBSON when the bytes are not one document.
 */
export function decodeBson(bytes: Uint8Array, start = 0, mask: Mask = true, levels: number = maxDepth): BsonDocument {
  const reader = new Reader(bytes);
  return reader.document(start, mask, 1 + maxDepth - levels);
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  document(start: number, mask: Mask, depth: number): BsonDocument {
    const end = this.#open(start, depth);
    const document = new BsonDocument();
    while (this.#at < end) {
      const type = this.#bytes[this.#at++]!;
      const key = this.#key(end);
      const wanted = mask === true ? true : mask.get(key);
      if (wanted === undefined) this.#skip(type, end);
      else document.set(key, this.#value(type, wanted, end, depth));
    }
    this.#close(end);
    return document;
  }

  #array(start: number, depth: number): BsonValue[] {
    const end = this.#open(start, depth);
    const array: BsonValue[] = [];
    while (this.#at < end) {
      const type = this.#bytes[this.#at++]!;
      while (this.#at < end && this.#bytes[this.#at] !== 0) this.#at++;
      this.#at++;
      array.push(this.#value(type, true, end, depth));
    }
    this.#close(end);
    return array;
  }

  /** Returns the place of the closing zero. */
  #open(start: number, depth: number): number {
    if (depth > maxDepth) throw new QueryError('Overflow', `a document is nested deeper than ${maxDepth} levels`);
    const left = this.#bytes.length - start;
    const size = left < 5 ? 0 : this.#view.getInt32(start, true);
    if (size < 5 || size > left) throw damaged(start, `a document of ${size} bytes where ${left} are left`);
    this.#at = start + 4;
    const end = start + size - 1;
    if (this.#bytes[end] !== 0) throw damaged(end, 'no zero byte at the end of the document');
    return end;
  }

  #close(end: number): void {
    if (this.#at !== end) throw damaged(this.#at, 'a field that runs past the end of its document');
    this.#at = end + 1;
  }

  #key(end: number): string {
    const start = this.#at;
    let at = start;
    while (at < end && this.#bytes[at] !== 0) at++;
    if (at >= end) throw damaged(start, 'a field name without an end');
    this.#at = at + 1;
    return keyText(this.#bytes, start, at);
  }

  #take(size: number, end: number): number {
    const start = this.#at;
    if (size < 0 || start + size > end) throw damaged(start, `a value of ${size} bytes that leaves its document`);
    this.#at = start + size;
    return start;
  }

  #string(end: number): string {
    const size = this.#view.getInt32(this.#take(4, end), true);
    const start = this.#take(size, end);
    if (size < 1 || this.#bytes[start + size - 1] !== 0) throw damaged(start, 'a string without its closing zero');
    return textOfBytes(this.#bytes, start, start + size - 1);
  }

  #nested(end: number): number {
    const start = this.#at;
    const size = this.#view.getInt32(this.#take(4, end), true);
    if (start + size > end) throw damaged(start, `a nested document of ${size} bytes that leaves its document`);
    return start;
  }

  #copy(size: number, end: number): Uint8Array {
    const start = this.#take(size, end);
    return this.#bytes.slice(start, start + size);
  }

  #value(type: number, mask: Mask, end: number, depth: number): BsonValue {
    switch (type) {
      case 0x01:
        return this.#view.getFloat64(this.#take(8, end), true);
      case 0x02:
        return this.#string(end);
      case 0x03:
        return this.document(this.#nested(end), mask, depth + 1);
      case 0x04:
        return this.#array(this.#nested(end), depth + 1);
      case 0x05: {
        const size = this.#view.getInt32(this.#take(4, end), true);
        const subtype = this.#bytes[this.#take(1, end)]!;
        return new Binary(this.#copy(size, end), subtype);
      }
      case 0x06:
        return new BsonUndefined();
      case 0x07:
        return new ObjectId(this.#copy(12, end));
      case 0x08:
        return this.#bytes[this.#take(1, end)] !== 0;
      case 0x09:
        return new BsonDate(Number(this.#view.getBigInt64(this.#take(8, end), true)));
      case 0x0a:
        return null;
      case 0x0b: {
        const pattern = this.#key(end);
        return new Regex(pattern, this.#key(end));
      }
      case 0x0c: {
        const namespace = this.#string(end);
        return new DbPointer(namespace, new ObjectId(this.#copy(12, end)));
      }
      case 0x0d:
        return new Code(this.#string(end));
      case 0x0e:
        return new BsonSymbol(this.#string(end));
      case 0x0f: {
        this.#take(4, end);
        const code = this.#string(end);
        return new Code(code, this.document(this.#nested(end), true, depth + 1));
      }
      case 0x10:
        return new Int32(this.#view.getInt32(this.#take(4, end), true));
      case 0x11:
        return new Timestamp(this.#view.getBigUint64(this.#take(8, end), true));
      case 0x12:
        return this.#view.getBigInt64(this.#take(8, end), true);
      case 0x13:
        return new Decimal128(this.#copy(16, end));
      case 0x7f:
        return new MaxKey();
      case 0xff:
        return new MinKey();
      default:
        throw damaged(this.#at, `an unknown type 0x${type.toString(16)}`);
    }
  }

  #skip(type: number, end: number): void {
    switch (type) {
      case 0x01:
      case 0x09:
      case 0x11:
      case 0x12:
        this.#take(8, end);
        return;
      case 0x02:
        this.#take(this.#view.getInt32(this.#take(4, end), true), end);
        return;
      case 0x03:
      case 0x04: {
        const size = this.#view.getInt32(this.#take(4, end), true);
        if (size < 5) throw damaged(this.#at, `a nested document of ${size} bytes`);
        this.#take(size - 4, end);
        return;
      }
      case 0x08:
        this.#take(1, end);
        return;
      case 0x0a:
        return;
      case 0x10:
        this.#take(4, end);
        return;
      default:
        this.#value(type, true, end, 1);
    }
  }
}

function damaged(at: number, found: string): QueryError {
  return new QueryError('InvalidBSON', `expected a BSON document, found ${found} at byte ${at}`);
}
