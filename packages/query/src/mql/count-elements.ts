/** Counts what BSON bytes would become when decoded, without decoding them. */

const [endOfDocument, double, string, document, array, binary, objectId] = [0, 1, 2, 3, 4, 5, 7] as const;
const [boolean, date, regex, dbPointer, code, symbol, codeWithScope] = [8, 9, 11, 12, 13, 14, 15] as const;
const [int32, timestamp, int64, decimal128] = [16, 17, 18, 19] as const;

/** Bytes of values that all have the same size; absent: none. */
const sizes: Readonly<Record<number, number>> = {
  ...{ [double]: 8, [objectId]: 12, [boolean]: 1, [date]: 8, [int32]: 4, [timestamp]: 8, [int64]: 8, [decimal128]: 16 },
};

/**
 * The fields and elements of a document, at every depth; stops above `max`. Where the decoder refuses the bytes, it has decoded at most as
 * many as are counted.
 */
export function countElements(bytes: Uint8Array, max: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 4;
  const sizeAt = (): number => (at + 4 > bytes.length ? bytes.length : Math.max(0, view.getInt32(at, true)));
  const skipText = (): void => {
    at = bytes.indexOf(0, at);
    at = at < 0 ? bytes.length : at + 1;
  };
  const skipString = (): void => {
    at += 4 + sizeAt();
  };
  let count = 0;
  for (let depth = 1; depth > 0 && at < bytes.length && count <= max; ) {
    const type = bytes[at++];
    if (type === endOfDocument) {
      depth--;
      continue;
    }
    count++;
    skipText();
    switch (type) {
      case codeWithScope:
        at += 4;
        skipString();
        at += 4;
        depth++;
        break;
      case document:
      case array:
        at += 4;
        depth++;
        break;
      case binary:
        at += 5 + sizeAt();
        break;
      case dbPointer:
        skipString();
        at += 12;
        break;
      case string:
      case code:
      case symbol:
        skipString();
        break;
      case regex:
        skipText();
        skipText();
        break;
      default:
        at += sizes[type ?? 0] ?? 0;
    }
  }
  return count;
}
