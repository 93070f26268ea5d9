/** The rows of a batch in wire format: one BSON document each. */
import type { Batch } from '@platform/query';

export function batchDocuments({ count, bytes, ends }: Batch): Uint8Array[] {
  return Array.from({ length: count }, (_, row) => bytes.subarray(row === 0 ? 0 : ends[row - 1], ends[row]));
}
