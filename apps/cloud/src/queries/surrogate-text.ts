/**
 * Encodes texts for clients whose BSON reader does not support four-byte UTF-8. Public TypeScript clients up to 0.61 read such a
 * character as three bytes and corrupt the text around it. Encoded as two surrogates of three bytes each, as in their strings, it
 * arrives correctly. The behaviour of later versions is unknown; they get UTF-8.
 */

/** @param metadata of a public TypeScript client. */
export function needsSurrogates(metadata: Headers): boolean {
  const [, minor] = /^typescript;v0\.(\d+)\./.exec(metadata.get('viam_client') ?? '') ?? [];
  return minor !== undefined && Number(minor) <= 61;
}

/** @param row a downgraded row. Returns the same bytes if no text or name contains such a character. */
export function withSurrogates(row: Uint8Array): Uint8Array {
  if (!hasFourBytes(row)) return row;
  const input = new DataView(row.buffer, row.byteOffset, row.byteLength);
  // Four bytes become six.
  const bytes = new Uint8Array(Math.ceil(row.length * 1.5));
  const output = new DataView(bytes.buffer);
  let at = 0;
  let to = 0;

  const copy = (count: number): void => {
    bytes.set(row.subarray(at, at + count), to);
    at += count;
    to += count;
  };
  const text = (end: number): void => {
    while (at < end) {
      const lead = row[at] ?? 0;
      if (lead < 0xf0) copy(1);
      else {
        const code =
          ((lead & 7) << 18) |
          (((row[at + 1] ?? 0) & 63) << 12) |
          (((row[at + 2] ?? 0) & 63) << 6) |
          ((row[at + 3] ?? 0) & 63);
        for (const unit of [0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff)]) {
          bytes[to++] = 0xe0 | (unit >> 12);
          bytes[to++] = 0x80 | ((unit >> 6) & 63);
          bytes[to++] = 0x80 | (unit & 63);
        }
        at += 4;
      }
    }
  };
  const sized = (write: (size: number) => void): void => {
    const size = input.getInt32(at, true);
    const start = to;
    at += 4;
    to += 4;
    write(size);
    output.setInt32(start, to - start, true);
  };
  const document = (): void =>
    sized(() => {
      for (let type = row[at]; type !== 0; type = row[at]) {
        copy(1);
        text(row.indexOf(0, at));
        copy(1);
        value(type ?? 0);
      }
      copy(1);
    });
  const value = (type: number): void => {
    const fixed = fixedBytes[type];
    if (fixed !== undefined) copy(fixed);
    else if (type === 2) {
      const start = to;
      sized((size) => text(at + size));
      // The length of a text excludes the length field itself.
      output.setInt32(start, to - start - 4, true);
    } else if (type === 3 || type === 4) document();
    else throw new Error(`expected a type that a downgraded row has, found ${type}`);
  };
  document();
  return bytes.subarray(0, to);
}

/** Byte sizes of double, ObjectId, boolean, date, null, int32 and int64. */
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 18: 8 };

/** Whether the row may contain such a character; bytes of numbers can cause false positives. */
function hasFourBytes(row: Uint8Array): boolean {
  for (let at = 0; at + 3 < row.length; at++) {
    if ((row[at] ?? 0) < 0xf0) continue;
    if (continues(row[at + 1]) && continues(row[at + 2]) && continues(row[at + 3])) return true;
  }
  return false;
}

function continues(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}
