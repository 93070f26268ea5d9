/** The least and greatest of texts in UTF-8 byte order, each cut to 64 bytes. */
import type { TextFacts } from '../files/file-facts.ts';

export const maxTextBytes = 64;

export interface TextRange {
  /** Adds the text at [start, end) of `bytes`. */
  add(bytes: Uint8Array, start: number, end: number): void;
  facts(): TextFacts;
}

export function createTextRange(): TextRange {
  let min: Uint8Array | undefined;
  let max = new Uint8Array();
  // A text longer than the stored prefix of the greatest may be greater than it.
  let maxIsCut = false;
  return {
    add(bytes, start, end) {
      const cut = Math.min(end, start + maxTextBytes);
      if (min === undefined || compare(bytes, start, cut, min) < 0) min = new Uint8Array(bytes.subarray(start, cut));
      const order = compare(bytes, start, cut, max);
      if (order > 0) {
        max = new Uint8Array(bytes.subarray(start, cut));
        maxIsCut = cut < end;
      } else if (order === 0 && cut < end) {
        maxIsCut = true;
      }
    },
    facts: () => ({
      min: wholeText(min ?? new Uint8Array()),
      max: maxIsCut ? roundedUp(wholeText(max)) : wholeText(max),
    }),
  };
}

/** If one text is a prefix of the other, the shorter is less. */
function compare(bytes: Uint8Array, start: number, end: number, other: Uint8Array): number {
  const length = Math.min(end - start, other.length);
  for (let i = 0; i < length; i++) {
    const difference = (bytes[start + i] as number) - (other[i] as number);
    if (difference !== 0) return difference;
  }
  return end - start - other.length;
}

/** Drops an incomplete character at the end. */
function wholeText(bytes: Uint8Array): string {
  let end = bytes.length;
  if (end === maxTextBytes) {
    let lead = end - 1;
    while (lead > 0 && ((bytes[lead] as number) & 0xc0) === 0x80) lead--;
    const byte = bytes[lead] as number;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (lead + length > end) end = lead;
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('utf8');
}

/** The least text greater than every text with this prefix; null when there is none. */
function roundedUp(text: string): string | null {
  const characters = [...text];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) as number;
    if (code === 0x10ffff) continue;
    // Surrogates are not characters.
    return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1);
  }
  return null;
}
