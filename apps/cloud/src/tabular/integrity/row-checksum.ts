/**
 * Checksums of catalog rows, and their sum over an organization (docs/specs/integrity.md). A changed row has a different checksum; a
 * missing or added row changes the sum.
 */
import { createHash } from 'node:crypto';
import type { TabularDeletesTable, TabularFilesTable } from '../store.ts';

export type FileRow = TabularFilesTable;
export type DeleteRow = Omit<TabularDeletesTable, 'id'> & { readonly id: number };
export type RowValues = readonly (string | number | null)[];

/** In the order in which they are hashed. */
export const fileColumns: readonly Exclude<keyof FileRow, 'row_check' | 'proof_day'>[] = [
  'file',
  'organization_id',
  'capture_day',
  'format',
  'rows',
  'logical_bytes',
  'file_bytes',
  'min_position',
  'max_position',
  'min_time_received',
  'max_time_received',
  'min_time_requested',
  'max_time_requested',
  'path_sets',
  'created_ms',
  'sha256',
  'block_crcs',
];

export const deleteColumns: readonly Exclude<keyof DeleteRow, 'row_check'>[] = [
  'id',
  'organization_id',
  'predicate',
  'up_to',
  'created_ms',
];

export type CheckedFile = Omit<FileRow, 'row_check' | 'proof_day'>;

export function fileValues(row: CheckedFile): RowValues {
  return ['file', ...fileColumns.map((column) => row[column])];
}

export function deleteValues(row: Omit<DeleteRow, 'row_check'>): RowValues {
  return ['delete', ...deleteColumns.map((column) => row[column])];
}

export function stateValues(sealedPosition: number): RowValues {
  return ['state', sealedPosition];
}

/** 128 bits, as 32 hexadecimal digits. */
export function checksumOf(values: RowValues): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 32);
}

export function fileRowChecksum(row: CheckedFile): string {
  return checksumOf(fileValues(row));
}

export function deleteRowChecksum(row: Omit<DeleteRow, 'row_check'>): string {
  return checksumOf(deleteValues(row));
}

export function stateRowChecksum(sealedPosition: number): string {
  return checksumOf(stateValues(sealedPosition));
}

export const emptySum: string = '0'.repeat(32);
const modulus = 1n << 128n;

/** The result does not depend on the order of the checksums. */
export function addChecksums(sum: string, checks: Iterable<string>): string {
  let total = BigInt(`0x${sum}`);
  for (const check of checks) total += BigInt(`0x${check}`);
  return (total % modulus).toString(16).padStart(32, '0');
}

export function subtractChecksum(sum: string, check: string): string {
  return ((BigInt(`0x${sum}`) - BigInt(`0x${check}`) + modulus) % modulus).toString(16).padStart(32, '0');
}

/** Whether the text is a well-formed checksum. */
export function isChecksum(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{32}$/.test(text);
}
