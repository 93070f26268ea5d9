import type { Batch } from '@platform/query';

/** The bytes of each document of a batch. */
export function documentsIn({ count, bytes, ends }: Batch): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i]));
}
