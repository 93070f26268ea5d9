/**
 * Parses the header `Range` of a download (RFC 9110, section 14). Supports one range of bytes; several ranges, and other units, are
 * ignored.
 */

export interface ByteRange {
  readonly start: number;
  /** Position of the last byte, included. */
  readonly end: number;
}

/** Undefined: the whole file. `unsatisfiable`: the range begins after the end. */
export function byteRangeOf(header: string, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header) ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  // A range that ends before it begins is invalid.
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}
