/** The proofs of the catalog's files by day (catalog/proof-days.ts), computed from the rows. */
import type { Database } from '../../metadata/tables.ts';
import { type DatedFile, proofDayOf } from '../catalog/proof-days.ts';
import type { TabularDayProofsTable } from '../store.ts';
import { addChecksums, emptySum } from './row-checksum.ts';

type ProvenFile = DatedFile & { readonly organization_id: string; readonly row_check: string };

export async function insertDayProofs(trx: Database, files: readonly ProvenFile[]): Promise<void> {
  const proofs = dayProofsOf(files);
  for (let at = 0; at < proofs.length; at += 100)
    await trx
      .insertInto('tabular_day_proofs')
      .values(proofs.slice(at, at + 100))
      .execute();
}

/** The proofs of these rows, taken as they are. */
export function dayProofsOf(files: readonly ProvenFile[]): TabularDayProofsTable[] {
  const sets = Map.groupBy(files, (row) => `${proofDayOf(row)} ${row.organization_id}`);
  return [...sets.values()].flatMap((rows) =>
    rows.slice(0, 1).map((row) => ({
      organization_id: row.organization_id,
      proof_day: proofDayOf(row),
      files: rows.length,
      files_sum: addChecksums(
        emptySum,
        rows.map(({ row_check: check }) => check),
      ),
    })),
  );
}
