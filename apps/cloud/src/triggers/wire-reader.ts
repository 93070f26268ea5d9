/** Protobuf's wire format, read in place: a position in bytes, without a decoded message around each value. */
import { PlatformError } from '@platform/base';

const maxKeys = 2_048;

/** Keys of documents as they come again and again, by a hash of their bytes. */
const keys = new Map<number, { readonly bytes: Uint8Array; readonly text: string }>();

/** Tags as the wire writes them. */
export const varintField = (field: number): number => field * 8;
export const doubleField = (field: number): number => field * 8 + 1;
export const bytesField = (field: number): number => field * 8 + 2;

export class WireReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #wireType = 0;
  /** Where the next read begins. */
  pos = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Field number × 8 + wire type, such as `bytesField(2)`. */
  tag(): number {
    const tag = this.varint();
    this.#wireType = tag % 8;
    return tag;
  }

  /** Exact to 2^53; beyond, and for negative numbers, see `int64`. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.#bytes[this.pos++];
      if (byte === undefined) throw damaged('the end of the bytes inside a number');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw damaged('a number of more than ten bytes');
  }

  /** Two's complement; exact within ±2^53. */
  int64(): number {
    const start = this.pos;
    const value = this.varint();
    if (value < 2 ** 53) return value;
    let exact = 0n;
    for (let at = this.pos - 1; at >= start; at--) exact = (exact << 7n) | BigInt(this.#bytes[at]! & 0x7f);
    return Number(BigInt.asIntN(64, exact));
  }

  double(): number {
    const at = this.pos;
    this.pos += 8;
    if (this.pos > this.#bytes.length) throw damaged('the end of the bytes inside a number');
    return this.#view.getFloat64(at, true);
  }

  /** Reads a length and says where the field ends. Throws data_loss when that is beyond `limit`. */
  lengthEnd(limit: number): number {
    const length = this.varint();
    const end = this.pos + length;
    if (end > limit) throw damaged(`a field that ends at byte ${end} where ${limit} bytes are`);
    return end;
  }

  text(end: number): string {
    const start = this.pos;
    this.pos = end;
    return this.#bytes.toString('utf8', start, end);
  }

  /** A text that is likely to come again. */
  key(end: number): string {
    const start = this.pos;
    const bytes = this.#bytes;
    let hash = end - start;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    const known = keys.get(hash);
    if (known && known.bytes.length === end - start) {
      let same = 0;
      while (same < known.bytes.length && known.bytes[same] === bytes[start + same]) same++;
      if (same === known.bytes.length) {
        this.pos = end;
        return known.text;
      }
    }
    const text = this.text(end);
    if (keys.size >= maxKeys) keys.clear();
    keys.set(hash, { bytes: Uint8Array.prototype.slice.call(bytes, start, end), text });
    return text;
  }

  /** Passes by the value of the last tag. */
  skip(limit: number): void {
    if (this.#wireType === 0) this.varint();
    else if (this.#wireType === 1) this.pos += 8;
    else if (this.#wireType === 2) this.pos = this.lengthEnd(limit);
    else if (this.#wireType === 5) this.pos += 4;
    else throw damaged(`wire type ${this.#wireType}`);
    if (this.pos > limit) throw damaged(`a field that ends at byte ${this.pos} where ${limit} bytes are`);
  }
}

function damaged(found: string): PlatformError {
  return new PlatformError('data_loss', `expected a protobuf message, found ${found}`);
}
