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

const slots = 1024;
const keyBytes: Uint8Array[] = new Array<Uint8Array>(slots).fill(new Uint8Array(0));
const keyTexts: string[] = new Array<string>(slots).fill('');

/** Text of a field name. Rows repeat the same few names, so the last name of each hash is kept. */
export function keyText(bytes: Uint8Array, start: number, end: number): string {
  let hash = 5381;
  for (let at = start; at < end; at++) hash = (hash * 33 + bytes[at]!) | 0;
  const slot = hash & (slots - 1);
  const known = keyBytes[slot]!;
  if (known.length === end - start) {
    let same = true;
    for (let index = 0; index < known.length && same; index++) same = known[index] === bytes[start + index];
    if (same) return keyTexts[slot]!;
  }
  const text = textOfBytes(bytes, start, end);
  if (end - start <= 64) {
    keyBytes[slot] = bytes.slice(start, end);
    keyTexts[slot] = text;
  }
  return text;
}
