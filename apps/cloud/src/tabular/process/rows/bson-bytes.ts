/** BSON writers shared by both transcoders. */

const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * Writes text as UTF-8 with lone surrogates repaired; in keys, NUL becomes U+2400 because BSON keys cannot hold it. Returns the bytes
 * written.
 */
export function writeRepairedText(text: string, target: Uint8Array, at: number, isKey: boolean): number {
  const repaired = isKey ? text.replaceAll('\0', '\u2400') : text;
  return encoder.encodeInto(repaired, target.subarray(at)).written;
}

/** Writes an array index as key, with its NUL; returns where it ends. */
export function writeIndex(target: Uint8Array, at: number, index: number): number {
  let end = at + 1;
  for (let limit = 10; index >= limit; limit *= 10) end++;
  target[end] = 0;
  let rest = index;
  for (let digit = end - 1; digit >= at; digit--) {
    // A division of integers: three times as fast as Math.floor and %.
    const tens = (rest / 10) | 0;
    target[digit] = 0x30 + rest - tens * 10;
    rest = tens;
  }
  return end + 1;
}

export function writeInt32(target: Uint8Array, at: number, value: number): void {
  target[at] = value;
  target[at + 1] = value >>> 8;
  target[at + 2] = value >>> 16;
  target[at + 3] = value >>> 24;
}

export function readInt32(source: Uint8Array, at: number): number {
  return (
    (source[at] as number) |
    ((source[at + 1] as number) << 8) |
    ((source[at + 2] as number) << 16) |
    ((source[at + 3] as number) << 24)
  );
}

/** Of the types that a Struct has. @param at where the value begins @returns where it ends */
export function skipValue(target: Uint8Array, at: number, type: number | undefined): number {
  if (type === 0x01) return at + 8;
  if (type === 0x08) return at + 1;
  if (type === 0x02) return at + 4 + readInt32(target, at);
  return type === 0x0a ? at : at + readInt32(target, at);
}
