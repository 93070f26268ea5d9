/** UTF-8 in and out, with short paths for the short ASCII texts of which documents mostly consist. */

/** A mark of byte order is a character like any other. */
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

/** Writes text at `at`; there must be room for three bytes for each UTF-16 unit. Returns the number of bytes written. */
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
/** Longer ones seldom come again. */
const longest = 64;

/**
 * Text of a byte range that other rows are likely to have too: names of fields, components and parts. The last one of each hash is
 * kept, so that it is compared instead of being built, and that rows share it.
 */
export function repeatedText(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length === 0 || length > longest) return textOfBytes(bytes, start, end);
  // Texts that are alike mostly differ at one of their ends.
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
  // Only of ASCII are the units the bytes.
  if (text.length === length) texts[slot] = text;
  return text;
}
