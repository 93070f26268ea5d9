/** The least number of bytes that a document has as JSON, found without decoding it: a reading of 4 MB may have half a million keys. */
import { maxReadingLevels, type StructSink, walkStruct } from '@platform/base';

/** The Struct in bytes[start..end). Escapes, and digits of numbers after the first, are not counted. */
export function leastJsonBytes(bytes: Uint8Array, start: number, end: number): number {
  sizes.total = 0;
  walkStruct(bytes, start, end, sizes, maxReadingLevels);
  return sizes.total;
}

/** A separator after each value. */
const separator = 1;

class Sizes implements StructSink {
  total = 0;

  /** Quotes and a colon. */
  key(_bytes: Uint8Array, start: number, end: number): boolean {
    this.total += end - start + 3;
    return true;
  }

  text(_bytes: Uint8Array, start: number, end: number): void {
    this.total += end - start + 2 + separator;
  }

  nothing(): void {
    this.total += 4 + separator;
  }

  number(): void {
    this.total += 1 + separator;
  }

  boolean(): void {
    this.total += 4 + separator;
  }

  beginDocument(): void {
    this.total += separator;
  }

  beginList(): void {
    this.total += separator;
  }

  item(): void {}
  endDocument(): void {}
  endList(): void {}
}

const sizes = /* @__PURE__ */ new Sizes();
