/** Reads BSON bytes into values. Embedded sizes are checked, so damaged bytes cause an error, never a wrong read. */

import { QueryError } from '../query-error.ts';
import { type FieldName, FieldNames, isAt, type Mask } from './field-names.ts';
import { repeatedText, textOfBytes } from './text.ts';
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

/** Levels of nesting that are read; MongoDB's own limit is 100 for stored documents, 180 in total. */
export const maxDepth = 200;

/**
 * Reads the document that starts at `start`. With a mask, only the named fields are read (arrays always whole). @param levels maximum
 * levels of nesting. @throws QueryError InvalidBSON if the bytes are not one document.
 */
export function decodeBson(bytes: Uint8Array, start = 0, mask: Mask = true, levels: number = maxDepth): BsonDocument {
  return new BsonReader(bytes, mask === true ? allNames : namesOf(mask)).document(start, levels);
}

/** Shared by all readers that read documents whole. */
const allNames = new FieldNames(true);
const masked = new WeakMap<Exclude<Mask, true>, FieldNames>();

function namesOf(mask: Exclude<Mask, true>): FieldNames {
  let names = masked.get(mask);
  if (names === undefined) {
    names = new FieldNames(mask);
    masked.set(mask, names);
  }
  return names;
}

/** Reads documents from one buffer; buffers with similar rows share the names of their fields. */
export class BsonReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #names: FieldNames;
  #at = 0;

  /** @param names of the fields to read, and what is known about them; absent: all fields. */
  constructor(bytes: Uint8Array, names: FieldNames = allNames) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#names = names;
  }

  /** See decodeBson. */
  document(start: number, levels: number = maxDepth): BsonDocument {
    const document = new BsonDocument();
    this.#names.first = this.#fields(document, start, this.#names, this.#names.first, 1 + maxDepth - levels);
    return document;
  }

  /** @param guess the likely first name. @returns the first name. */
  #fields(
    document: BsonDocument,
    start: number,
    names: FieldNames,
    guess: FieldName | undefined,
    depth: number,
  ): FieldName | undefined {
    const end = this.#open(start, depth);
    const [bytes, view] = [this.#bytes, this.#view];
    let first: FieldName | undefined;
    let last: FieldName | undefined;
    let next = guess;
    let at = this.#at;
    while (at < end) {
      const type = bytes[at++]!;
      if (next !== undefined && isAt(next, view, at, end)) at += next.bytes.length;
      else {
        const close = endOfText(bytes, at, end);
        next = names.at(bytes, at, close);
        if (last !== undefined) last.next = next;
        at = close + 1;
      }
      const size = next.below === undefined ? sizeOf(type, view, at, end) : undefined;
      if (size === undefined) {
        this.#at = at;
        const value = this.#field(type, next, end, depth);
        if (next.below !== undefined) document.set(next.text, value);
        at = this.#at;
      } else at += size;
      first ??= next;
      last = next;
      next = next.next;
    }
    this.#at = at;
    this.#close(end);
    return first;
  }

  #field(type: number, name: FieldName, end: number, depth: number): BsonValue {
    if (type !== 0x03 || name.below === undefined) return this.#value(type, end, depth);
    const document = new BsonDocument();
    name.inside = this.#fields(document, this.#nested(end), name.below, name.inside, depth + 1);
    return document;
  }

  #whole(start: number, depth: number): BsonDocument {
    const document = new BsonDocument();
    this.#fields(document, start, allNames, allNames.first, depth);
    return document;
  }

  #array(start: number, depth: number): BsonValue[] {
    const end = this.#open(start, depth);
    const array: BsonValue[] = [];
    while (this.#at < end) {
      const type = this.#bytes[this.#at++]!;
      while (this.#at < end && this.#bytes[this.#at] !== 0) this.#at++;
      this.#at++;
      array.push(this.#value(type, end, depth));
    }
    this.#close(end);
    return array;
  }

  /** Returns the position of the closing zero. */
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

  #text(end: number): string {
    const start = this.#at;
    const close = endOfText(this.#bytes, start, end);
    this.#at = close + 1;
    return textOfBytes(this.#bytes, start, close);
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
    return repeatedText(this.#bytes, start, start + size - 1);
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

  #value(type: number, end: number, depth: number): BsonValue {
    switch (type) {
      case 0x01:
        return this.#view.getFloat64(this.#take(8, end), true);
      case 0x02:
        return this.#string(end);
      case 0x03:
        return this.#whole(this.#nested(end), depth + 1);
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
        const pattern = this.#text(end);
        return new Regex(pattern, this.#text(end));
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
        return new Code(code, this.#whole(this.#nested(end), depth + 1));
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
}

/** Bytes of a value that is skipped; undefined for a rare type, which has to be read. */
function sizeOf(type: number, view: DataView, at: number, end: number): number | undefined {
  let size: number;
  switch (type) {
    case 0x01:
    case 0x09:
    case 0x11:
    case 0x12:
      size = 8;
      break;
    case 0x02:
      size = sizeAt(view, at, end) + 4;
      if (size < 5) throw damaged(at, 'a string without its closing zero');
      break;
    case 0x03:
    case 0x04:
      size = sizeAt(view, at, end);
      if (size < 5) throw damaged(at, `a nested document of ${size} bytes`);
      break;
    case 0x08:
      size = 1;
      break;
    case 0x0a:
      size = 0;
      break;
    case 0x10:
      size = 4;
      break;
    default:
      return undefined;
  }
  if (at + size > end) throw damaged(at, `a value of ${size} bytes that leaves its document`);
  return size;
}

function sizeAt(view: DataView, at: number, end: number): number {
  if (at + 4 > end) throw damaged(at, 'a size that leaves its document');
  return view.getInt32(at, true);
}

/** The position of the zero that ends a text. */
function endOfText(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== 0) at++;
  if (at >= end) throw damaged(start, 'a text without an end');
  return at;
}

function damaged(at: number, found: string): QueryError {
  return new QueryError('InvalidBSON', `expected a BSON document, found ${found} at byte ${at}`);
}
