/** The header `Range` of a download (RFC 9110, section 14): one range of bytes; several, and other units, count as none. */

export interface ByteRange {
  readonly start: number;
  /** The last byte of it. */
  readonly end: number;
}

/** Undefined: the whole. `unsatisfiable`: it begins behind the end. */
export function byteRangeOf(header: string, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header) ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  // A range that ends before it begins is none.
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}
