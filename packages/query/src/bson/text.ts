/** Encodes and decodes UTF-8, with fast paths for short ASCII texts, of which documents mostly consist. */

/** A byte order mark is a character like any other. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** Text of a byte range; bytes that are not UTF-8 become U+FFFD. */
export function textOfBytes(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 24) return decoder.decode(bytes.subarray(start, end));
  let text = '';
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte > 127) return decoder.decode(bytes.subarray(start, end));
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Writes text at `at`; there must be room for three bytes per UTF-16 unit. Returns the number of bytes written. */
export function writeText(text: string, into: Uint8Array, at: number): number {
  if (text.length > 64) return encoder.encodeInto(text, into.subarray(at)).written;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 127) return encoder.encodeInto(text, into.subarray(at)).written;
    into[at + index] = unit;
  }
  return text.length;
}

const slots = 4096;
const texts: string[] = new Array<string>(slots).fill('');
/** Longer texts rarely repeat. */
const longest = 64;

/**
 * Text of a byte range that other rows are likely to contain too: names of fields, components and parts. The last text of each hash is
 * kept, so that it is compared instead of decoded again, and rows share it.
 */
export function repeatedText(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length === 0 || length > longest) return textOfBytes(bytes, start, end);
  // Similar texts mostly differ at one of their ends.
  let hash = length;
  for (let at = length > 12 ? end - 10 : start; at < end; at++) hash = (hash * 33 + bytes[at]!) | 0;
  hash = (hash * 33 + bytes[start]!) | 0;
  const slot = (hash ^ (hash >>> 12)) & (slots - 1);
  const known = texts[slot]!;
  if (known.length === length) {
    let at = 0;
    while (at < length && known.charCodeAt(at) === bytes[start + at]) at++;
    if (at === length) return known;
  }
  const text = textOfBytes(bytes, start, end);
  // Only in ASCII does each byte equal a UTF-16 unit.
  if (text.length === length) texts[slot] = text;
  return text;
}
