/**
 * Checksums of catalog rows, and their sum over an organization (docs/specs/integrity.md). A row whose values differ from those that were
 * written has another checksum; a row that is missing, or was added, changes the sum.
 */
import { createHash } from 'node:crypto';
import type { TabularDeletesTable, TabularFilesTable } from './store.ts';

export type FileRow = TabularFilesTable;
export type DeleteRow = Omit<TabularDeletesTable, 'id'> & { readonly id: number };

/** 128 bits, as 32 hexadecimal digits. */
export function fileRowCheck(row: Omit<FileRow, 'row_check'>): string {
  return checkOf([
    'file',
    row.file,
    row.organization_id,
    row.capture_day,
    row.format,
    row.rows,
    row.logical_bytes,
    row.file_bytes,
    row.min_position,
    row.max_position,
    row.min_time_received,
    row.max_time_received,
    row.min_time_requested,
    row.max_time_requested,
    row.path_sets,
    row.created_ms,
    row.sha256,
    row.block_crcs,
  ]);
}

export function deleteRowCheck(row: Omit<DeleteRow, 'row_check'>): string {
  return checkOf(['delete', row.id, row.organization_id, row.predicate, row.up_to, row.created_ms]);
}

export function stateRowCheck(sealedPosition: number): string {
  return checkOf(['state', sealedPosition]);
}

export const emptySum: string = '0'.repeat(32);
const modulus = 1n << 128n;

/** In whatever order they are added. */
export function plus(sum: string, checks: Iterable<string>): string {
  let total = BigInt(`0x${sum}`);
  for (const check of checks) total += BigInt(`0x${check}`);
  return (total % modulus).toString(16).padStart(32, '0');
}

export function minus(sum: string, check: string): string {
  return ((BigInt(`0x${sum}`) - BigInt(`0x${check}`) + modulus) % modulus).toString(16).padStart(32, '0');
}

/** Whether it is one, and not what is left of one. */
export function isCheck(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{32}$/.test(text);
}

function checkOf(values: readonly (string | number | null)[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 32);
}
