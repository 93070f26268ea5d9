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
    value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) return false;
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  while (at < end) {
    const fieldStart = at;
    if (!varint()) return false;
    const type = value % 8;
    const number = Math.floor(value / 8);
    if (number === 0) return false;
    let contentStart = at;
    let content = 0;
    if (type === 0) {
      if (!varint()) return false;
      content = value >= 2 ** 63 ? value - 2 ** 64 : value;
    } else if (type === 2) {
      if (!varint() || value > end - at) return false;
      contentStart = at;
      at += value;
    } else if (type === 1 || type === 5) {
      at += type === 1 ? 8 : 4;
      if (at > end) return false;
    } else {
      return false;
    }
    visit({ number, type, start: fieldStart, contentStart, end: at, value: content });
  }
  return true;
}
