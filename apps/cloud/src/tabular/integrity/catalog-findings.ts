/** Verifies the checksums of the catalog's rows: every row is unchanged, none is missing, none was added. */

import type { TabularProofsTable, TabularStateTable } from '../store.ts';
import {
  addChecksums,
  type DeleteRow,
  deleteRowChecksum,
  emptySum,
  type FileRow,
  fileRowChecksum,
  isChecksum,
  stateRowChecksum,
} from './row-checksum.ts';

export interface CatalogRows {
  readonly state: readonly TabularStateTable[];
  readonly files: readonly FileRow[];
  readonly deletes: readonly DeleteRow[];
  readonly proofs: readonly TabularProofsTable[];
}

/** Table names, for tools that read a store directly. */
export const catalogTables: Readonly<Record<keyof CatalogRows, string>> = {
  state: 'tabular_state',
  files: 'tabular_files',
  deletes: 'tabular_deletes',
  proofs: 'tabular_proofs',
};

export interface CatalogFinding {
  /** The organization whose answers are affected; null: all. */
  readonly organizationId: string | null;
  /** The file whose row is damaged, if known. */
  readonly file?: string;
  readonly text: string;
}

/** Findings for all organizations; empty: the catalog is intact. */
export function catalogFindings({ state, files, deletes, proofs }: CatalogRows): CatalogFinding[] {
  const findings: CatalogFinding[] = stateFindings(state).map((text) => ({ organizationId: null, text }));
  const ofOrganizations = new Map<string, { files: FileRow[]; deletes: DeleteRow[] }>();
  const rowsOf = (organizationId: string): { files: FileRow[]; deletes: DeleteRow[] } => {
    const rows = ofOrganizations.get(organizationId) ?? { files: [], deletes: [] };
    ofOrganizations.set(organizationId, rows);
    return rows;
  };
  for (const row of files) rowsOf(row.organization_id).files.push(row);
  for (const row of deletes) rowsOf(row.organization_id).deletes.push(row);
  for (const { organization_id: organizationId } of proofs) rowsOf(organizationId);
  for (const [organizationId, rows] of ofOrganizations) {
    for (const row of rows.files)
      if (!isFileRowRight(row))
        findings.push({ organizationId, file: row.file, text: `the row of file ${row.file} was changed` });
    for (const row of rows.deletes)
      if (!isDeleteRowRight(row)) findings.push({ organizationId, text: `the row of deletion ${row.id} was changed` });
    const proof = proofs.find((each) => each.organization_id === organizationId);
    for (const text of proofFindings(proof, rows.files, rows.deletes)) findings.push({ organizationId, text });
  }
  return findings;
}

/** Whether an earlier version wrote all rows, and this version has not started on them yet. */
export function isWithoutChecks({ state, files, deletes, proofs }: CatalogRows): boolean {
  return proofs.length === 0 && [...state, ...files, ...deletes].every((row) => (row.row_check ?? null) === null);
}

export function isFileRowRight(row: FileRow): boolean {
  return row.row_check === fileRowChecksum(row);
}

export function isDeleteRowRight(row: DeleteRow): boolean {
  return row.row_check === deleteRowChecksum(row);
}

export function stateFindings(state: readonly TabularStateTable[]): string[] {
  const [row, ...others] = state;
  if (row === undefined || others.length > 0)
    return [`expected one row with the sealed position, found ${state.length}`];
  return row.row_check === stateRowChecksum(row.sealed_position) ? [] : ['the sealed position was changed'];
}

/** Findings about one organization's rows. */
export function proofFindings(
  proof: Omit<TabularProofsTable, 'organization_id'> | undefined,
  files: readonly Pick<FileRow, 'row_check'>[],
  deletes: readonly Pick<DeleteRow, 'row_check'>[],
): string[] {
  const expected = proof ?? { files: 0, files_sum: emptySum, deletes: 0, deletes_sum: emptySum };
  return [
    ...proofFinding('files', expected.files, expected.files_sum, files),
    ...proofFinding('deletions', expected.deletes, expected.deletes_sum, deletes),
  ];
}

function proofFinding(
  what: string,
  count: number,
  sum: string,
  rows: readonly { readonly row_check: string | null }[],
): string[] {
  if (rows.length !== count) return [`expected ${count} rows of ${what}, found ${rows.length}`];
  const checks = rows.flatMap(({ row_check: check }) => (isChecksum(check) ? [check] : []));
  if (checks.length === count && addChecksums(emptySum, checks) === sum) return [];
  return [`the rows of ${what} differ from those that were written`];
}
