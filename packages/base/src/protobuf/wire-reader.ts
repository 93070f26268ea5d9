/** Reads Protobuf's wire format in place, where decoding the whole message would be too slow or unnecessary. */

const eightBytes = /* @__PURE__ */ new Uint8Array(8);
const asDouble = /* @__PURE__ */ new DataView(eightBytes.buffer);

/** Steps through the fields of a message in bytes[start..end) without allocating: call `next`, then read its properties. */
export class WireReader {
  bytes: Uint8Array;
  #end: number;
  #at: number;
  /** The bytes are not a message; set when `next` returns false before the end. */
  broken = false;
  number = 0;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  type = 0;
  /** First byte of the field, including its tag. */
  fieldStart = 0;
  /** Content of a length-delimited field: bytes[contentStart..contentEnd). */
  contentStart = 0;
  contentEnd = 0;
  /** Value of a varint, as a signed 64-bit number (rounded past 2^53). */
  value = 0;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Starts again with other bytes. */
  reset(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.broken = false;
  }

  /** Number and wire type combined, such as `bytesField(2)`. */
  get tag(): number {
    return this.number * 8 + this.type;
  }

  /** False at the end, or if the bytes are not a message. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    this.fieldStart = this.#at;
    const tag = this.#varint();
    const number = Math.floor(tag / 8);
    const type = tag % 8;
    if (this.broken || number < 1) return this.#stop();
    this.number = number;
    this.type = type;
    this.value = type === 0 || type === 2 ? this.#varint() : 0;
    this.contentStart = this.#at;
    if (type === 1) this.#at += 8;
    else if (type === 5) this.#at += 4;
    else if (type === 2 && this.value >= 0) this.#at += this.value;
    else if (type !== 0) return this.#stop();
    this.contentEnd = this.#at;
    return this.broken || this.#at > this.#end ? this.#stop() : true;
  }

  /** Enters the content; pass the result to `leave` once `next` has returned false. If the content is broken, so is the whole message. */
  enter(): number {
    const outerEnd = this.#end;
    this.#at = this.contentStart;
    this.#end = this.contentEnd;
    return outerEnd;
  }

  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  content(): Uint8Array {
    return this.bytes.subarray(this.contentStart, this.contentEnd);
  }

  #stop(): false {
    this.broken = true;
    this.#at = this.#end;
    return false;
  }

  #varint(): number {
    const { bytes } = this;
    const start = this.#at;
    let value = 0;
    let scale = 1;
    for (let length = 1; length <= 10 && this.#at < this.#end; length++) {
      const byte = bytes[this.#at++] as number;
      value += (byte & 0x7f) * scale;
      // Past 2^49 doubles may round. Such values are rare: negative numbers, and invalid data.
      if (byte < 0x80) return length > 7 ? longVarint(bytes, start, this.#at) : value;
      scale *= 128;
    }
    this.broken = true;
    return 0;
  }
}

/** A double's eight bytes, little-endian. */
export function doubleAt(bytes: Uint8Array, at: number): number {
  for (let index = 0; index < 8; index++) eightBytes[index] = bytes[at + index] as number;
  return asDouble.getFloat64(0, true);
}

function longVarint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0n;
  for (let at = end - 1; at >= start; at--) value = (value << 7n) | BigInt((bytes[at] as number) & 0x7f);
  return Number(BigInt.asIntN(64, value));
}
