/** The least and greatest of texts, each cut to 64 bytes, in the order of their UTF-8 bytes. */
import type { TextFacts } from '../files/file-facts.ts';

export const maxTextBytes = 64;

export interface TextRange {
  /** Takes the text at [start, end) of `bytes`. */
  add(bytes: Uint8Array, start: number, end: number): void;
  facts(): TextFacts;
}

export function createTextRange(): TextRange {
  let min: Uint8Array | undefined;
  let max = new Uint8Array();
  // A text that is longer than what is kept of the greatest may be greater than that.
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

/** Texts that are equal as far as both go: the shorter is less. */
function compare(bytes: Uint8Array, start: number, end: number, other: Uint8Array): number {
  const length = Math.min(end - start, other.length);
  for (let i = 0; i < length; i++) {
    const difference = (bytes[start + i] as number) - (other[i] as number);
    if (difference !== 0) return difference;
  }
  return end - start - other.length;
}

/** Without the beginning of a character that was cut. */
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

/** The least text that is greater than every text that begins with this one; null when there is none. */
function roundedUp(text: string): string | null {
  const characters = [...text];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) as number;
    if (code === 0x10ffff) continue;
    // Surrogates are no characters.
    return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1);
  }
  return null;
}
