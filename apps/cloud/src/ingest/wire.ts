/** Protobuf's wire format, as far as a shallow look at a message needs it. */

export interface WireField {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  readonly type: number;
  /** First byte of the field, its tag included. */
  readonly start: number;
  /** Content of a length-delimited field: bytes[contentStart..end). */
  readonly contentStart: number;
  readonly end: number;
  /** Value of a varint as a signed 64-bit number (rounded past 2^53); 0 otherwise. */
  readonly value: number;
}

/** Calls `visit` for each field of the message in bytes[start..end). False when the bytes are no message. */
export function walkFields(bytes: Uint8Array, start: number, end: number, visit: (field: WireField) => void): boolean {
  let at = start;
  let value = 0;
  const varint = (): boolean => {
    const first = at;
    value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) return false;
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte >= 0x80) continue;
      // Past 2^49 doubles may round; these are rare: negative numbers, and nonsense.
      if (shift > 42) value = longVarint(bytes, first, at);
      return true;
    }
    return false;
  };
  while (at < end) {
    const fieldStart = at;
    if (!varint()) return false;
    if (value < 0) return false;
    const type = value % 8;
    const number = Math.floor(value / 8);
    if (number === 0) return false;
    let contentStart = at;
    if (type === 0) {
      if (!varint()) return false;
    } else if (type === 2) {
      if (!varint() || value < 0 || value > end - at) return false;
      contentStart = at;
      at += value;
    } else if (type === 1 || type === 5) {
      at += type === 1 ? 8 : 4;
      if (at > end) return false;
    } else {
      return false;
    }
    visit({ number, type, start: fieldStart, contentStart, end: at, value: type === 0 ? value : 0 });
  }
  return true;
}

function longVarint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0n;
  for (let at = end - 1; at >= start; at--) value = (value << 7n) | BigInt((bytes[at] as number) & 0x7f);
  return Number(BigInt.asIntN(64, value));
}
