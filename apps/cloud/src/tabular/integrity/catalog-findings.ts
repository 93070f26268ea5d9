/** Verifies the checksums of the catalog's rows: every row is unchanged, none is missing, none was added. */
import { getOrInsert } from '@platform/base';
import { anyDay, proofDayOf } from '../catalog/proof-days.ts';
import type { TabularDayProofsTable, TabularProofsTable, TabularStateTable } from '../store.ts';
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
  readonly days: readonly TabularDayProofsTable[];
}

/** Table names, for tools that read a store directly. */
export const catalogTables: Readonly<Record<keyof CatalogRows, string>> = {
  state: 'tabular_state',
  files: 'tabular_files',
  deletes: 'tabular_deletes',
  proofs: 'tabular_proofs',
  days: 'tabular_day_proofs',
};

export interface CatalogFinding {
  /** The organization whose answers are affected; null: all. */
  readonly organizationId: string | null;
  /** The file whose row is damaged, if known. */
  readonly file?: string;
  readonly text: string;
}

/** Findings for all organizations; empty: the catalog is intact. */
export function catalogFindings({ state, files, deletes, proofs, days }: CatalogRows): CatalogFinding[] {
  const findings: CatalogFinding[] = stateFindings(state).map((text) => ({ organizationId: null, text }));
  const ofOrganizations = new Map<string, { files: FileRow[]; deletes: DeleteRow[] }>();
  const rowsOf = (organizationId: string): { files: FileRow[]; deletes: DeleteRow[] } =>
    getOrInsert(ofOrganizations, organizationId, () => ({ files: [], deletes: [] }));
  for (const row of files) rowsOf(row.organization_id).files.push(row);
  for (const row of deletes) rowsOf(row.organization_id).deletes.push(row);
  for (const { organization_id: organizationId } of [...proofs, ...days]) rowsOf(organizationId);
  const daysOf = Map.groupBy(days, (each) => each.organization_id);
  for (const [organizationId, rows] of ofOrganizations) {
    for (const row of rows.files)
      if (!isFileRowRight(row))
        findings.push({ organizationId, file: row.file, text: `the row of file ${row.file} was changed` });
    for (const row of rows.deletes)
      if (!isDeleteRowRight(row)) findings.push({ organizationId, text: `the row of deletion ${row.id} was changed` });
    const proof = proofs.find((each) => each.organization_id === organizationId);
    const ofDays = dayFindings(daysOf.get(organizationId) ?? [], rows.files);
    const ofFiles = ofDays.length > 0 ? ofDays : fileFindings(proof, rows.files);
    for (const text of [...ofFiles, ...deleteFindings(proof, rows.deletes)]) findings.push({ organizationId, text });
  }
  return findings;
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

/** Findings about the listed files of one organization. */
export function fileFindings(
  proof: Pick<TabularProofsTable, 'files' | 'files_sum'> | undefined,
  files: readonly Pick<FileRow, 'row_check'>[],
): string[] {
  return proofFinding('files', proof?.files ?? 0, proof?.files_sum ?? emptySum, files);
}

export function deleteFindings(
  proof: Pick<TabularProofsTable, 'deletes' | 'deletes_sum'> | undefined,
  deletes: readonly Pick<DeleteRow, 'row_check'>[],
): string[] {
  return proofFinding('deletions', proof?.deletes ?? 0, proof?.deletes_sum ?? emptySum, deletes);
}

/** Findings about the files of one organization by day. @param files all those of the sets that these proofs are about, and no others */
export function dayFindings(
  proofs: readonly Omit<TabularDayProofsTable, 'organization_id'>[],
  files: readonly FileRow[],
): string[] {
  const ofDays = Map.groupBy(files, proofDayOf);
  const findings = files.flatMap((row) =>
    row.proof_day === proofDayOf(row) ? [] : [`the row of file ${row.file} was changed`],
  );
  const known = new Map(proofs.map((proof) => [proof.proof_day, proof]));
  for (const day of new Set([...ofDays.keys(), ...known.keys()])) {
    const { files: count, files_sum: sum } = known.get(day) ?? { files: 0, files_sum: emptySum };
    const what = day === anyDay ? 'files with other times' : `files of ${day}`;
    findings.push(...proofFinding(what, count, sum, ofDays.get(day) ?? []));
  }
  return findings;
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
