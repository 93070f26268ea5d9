/**
 * Encodes a reading directly to the bytes of platform.app.datasync.v1.SensorData, without intermediate message objects: at 1,000
 * readings a second, these would cost more than everything else. The bytes are written from back to front, so that every length is
 * known when it is needed.
 */
import { maxReadingLevels } from '@platform/base';
import { type CapturedDocument, EncodedDocument } from '@platform/resources';

/** Times in microseconds since 1970 UTC; `document` goes into the field `struct`. */
export interface Reading {
  readonly requestedMicros: number;
  readonly receivedMicros: number;
  readonly document: CapturedDocument;
}

const text = new TextEncoder();
const keyCache = new Map<string, Uint8Array>();
const maxCachedKeys = 4_096;

export class ReadingEncoder {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1_024);
  #view: DataView = new DataView(this.#bytes.buffer);
  /** First used byte. */
  #at = 0;

  /**
   * The encoded SensorData, in its own memory. Of the values that JSON lacks, dates become ISO text, bytes base64, and others plain text.
   */
  encode(reading: Reading): Uint8Array<ArrayBuffer> {
    this.#at = this.#bytes.length;
    const { document } = reading;
    if (document instanceof EncodedDocument) this.#text(0x12, document.bytes);
    else this.#message(0x12, () => this.#struct(document, 1));
    this.#message(0x0a, () => {
      this.#message(0x12, () => this.#timestamp(reading.receivedMicros));
      this.#message(0x0a, () => this.#timestamp(reading.requestedMicros));
    });
    return this.#bytes.slice(this.#at);
  }

  /** Writes field `tag` of wire type 2; `write` writes its content before the current position. */
  #message(tag: number, write: () => void): void {
    const end = this.#bytes.length - this.#at;
    write();
    this.#varint(this.#bytes.length - this.#at - end);
    this.#byte(tag);
  }

  #timestamp(micros: number): void {
    const seconds = Math.floor(micros / 1e6);
    const nanos = Math.round(micros - seconds * 1e6) * 1_000;
    if (nanos > 0) {
      this.#varint(nanos);
      this.#byte(0x10);
    }
    if (seconds > 0) {
      this.#varint(seconds);
      this.#byte(0x08);
    }
  }

  #struct(document: Readonly<Record<string, unknown>>, level: number): void {
    const keys = Object.keys(document);
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i] as string;
      const value = document[key];
      if (value === undefined || typeof value === 'function') continue;
      const end = this.#bytes.length - this.#at;
      this.#value(0x12, value, level);
      this.#text(0x0a, keyBytes(key));
      this.#varint(this.#bytes.length - this.#at - end);
      this.#byte(0x0a);
    }
  }

  /** Writes a google.protobuf.Value as field `tag`. @param level of the document or list that contains it */
  #value(tag: number, value: unknown, level: number): void {
    const end = this.#bytes.length - this.#at;
    if (typeof value === 'number' || typeof value === 'bigint') {
      this.#reserve(8);
      this.#at -= 8;
      this.#view.setFloat64(this.#at, Number(value), true);
      this.#byte(0x11);
    } else if (typeof value === 'string') {
      this.#text(0x1a, text.encode(value));
    } else if (typeof value === 'boolean') {
      this.#byte(value ? 1 : 0);
      this.#byte(0x20);
    } else if (value === null || value === undefined) {
      this.#byte(0);
      this.#byte(0x08);
    } else if (value instanceof Date) {
      this.#text(0x1a, text.encode(value.toISOString()));
    } else if (value instanceof Uint8Array) {
      this.#text(0x1a, text.encode(Buffer.from(value).toString('base64')));
    } else if (value instanceof EncodedDocument) {
      this.#text(0x2a, value.bytes);
    } else if (typeof value === 'object' && level >= maxReadingLevels) {
      throw new RangeError(`a reading nested deeper than ${maxReadingLevels} levels`);
    } else if (Array.isArray(value)) {
      this.#message(0x32, () => {
        for (let i = value.length - 1; i >= 0; i--) this.#value(0x0a, value[i], level + 1);
      });
    } else if (typeof value === 'object') {
      this.#message(0x2a, () => this.#struct(value as Record<string, unknown>, level + 1));
    } else {
      this.#text(0x1a, text.encode(String(value)));
    }
    this.#varint(this.#bytes.length - this.#at - end);
    this.#byte(tag);
  }

  #text(tag: number, bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
    this.#varint(bytes.length);
    this.#byte(tag);
  }

  #byte(value: number): void {
    if (this.#at === 0) this.#reserve(1);
    this.#bytes[--this.#at] = value;
  }

  #varint(value: number): void {
    if (value < 0x80) {
      this.#byte(value);
      return;
    }
    let bytes = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++;
    this.#reserve(bytes);
    this.#at -= bytes;
    let rest = value;
    for (let i = 0; i < bytes; i++) {
      this.#bytes[this.#at + i] = (rest % 128) | (i < bytes - 1 ? 0x80 : 0);
      rest = Math.floor(rest / 128);
    }
  }

  /** Makes room for `count` bytes before the current position. */
  #reserve(count: number): void {
    if (this.#at >= count) return;
    const used = this.#bytes.length - this.#at;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, used + count + 1_024));
    larger.set(this.#bytes.subarray(this.#at), larger.length - used);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
    this.#at = larger.length - used;
  }
}

function keyBytes(key: string): Uint8Array {
  const known = keyCache.get(key);
  if (known !== undefined) return known;
  const bytes = text.encode(key);
  if (keyCache.size < maxCachedKeys) keyCache.set(key, bytes);
  return bytes;
}
