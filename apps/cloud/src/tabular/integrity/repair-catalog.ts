/**
 * Repairs the catalog's rows from their second copies. Each organization's checksum sums decide: only rows that add up to them are written.
 * If the sums themselves are damaged, complete agreement of rows and copies is sufficient.
 */

import type { Database } from '../../metadata/tables.ts';
import { proofDayOf } from '../catalog/proof-days.ts';
import type { TabularProofsTable } from '../store.ts';
import { type CatalogFinding, catalogFindings } from './catalog-findings.ts';
import { dayProofsOf, insertDayProofs } from './day-proofs.ts';
import { addChecksums, type DeleteRow, emptySum, type FileRow, stateRowChecksum } from './row-checksum.ts';
import { nameOfDelete, nameOfFile, nameOfState, readCopy } from './row-copies.ts';

export interface RepairedCatalog {
  /** Repairs that were made, or would be. */
  readonly mended: readonly string[];
  /** Findings that neither rows nor copies can resolve. */
  readonly left: readonly CatalogFinding[];
}

/** @param apply false: returns what it would do, and changes nothing */
export async function repairCatalog(db: Database, apply: boolean): Promise<RepairedCatalog> {
  return await db.transaction().execute(async (trx) => {
    const state = await trx.selectFrom('tabular_state').selectAll().execute();
    const files = await trx.selectFrom('tabular_files').selectAll().execute();
    const deletes = await trx.selectFrom('tabular_deletes').selectAll().execute();
    const proofs = await trx.selectFrom('tabular_proofs').selectAll().execute();
    const days = await trx.selectFrom('tabular_day_proofs').selectAll().execute();
    const copies = (await trx.selectFrom('tabular_copies').selectAll().execute()).map((copy) => ({
      name: copy.name,
      copied: readCopy(copy),
    }));
    const before = catalogFindings({ state, files, deletes, proofs, days });
    const mended: string[] = [];
    const left: CatalogFinding[] = [];

    const ofState = before.filter(({ organizationId }) => organizationId === null);
    if (ofState.length > 0) {
      const position = provenPosition(state, copies.find(({ name }) => name === nameOfState)?.copied);
      if (position === undefined) left.push(...ofState);
      else mended.push(`the sealed position is ${position}`);
      if (position !== undefined && apply) await writePosition(trx, position);
    }

    const damaged = new Set(before.flatMap(({ organizationId }) => (organizationId === null ? [] : [organizationId])));
    if (damaged.size === 0) return { mended, left };
    const copiedFiles = new Map<string, FileRow>();
    const copiedDeletes = new Map<number, DeleteRow>();
    for (const { name, copied } of copies) {
      if (copied?.kind === 'file' && name === nameOfFile(copied.row.file)) copiedFiles.set(copied.row.file, copied.row);
      if (copied?.kind === 'delete' && name === nameOfDelete(copied.row.id))
        copiedDeletes.set(copied.row.id, copied.row);
    }
    for (const organizationId of damaged) {
      const none = { files: 0, files_sum: emptySum, deletes: 0, deletes_sum: emptySum };
      const proof = proofs.find((each) => each.organization_id === organizationId) ?? none;
      const wantedFiles = [...copiedFiles.values()].filter((row) => row.organization_id === organizationId);
      const wantedDeletes = [...copiedDeletes.values()].filter((row) => row.organization_id === organizationId);
      const ofCopies = sumsOf(wantedFiles, wantedDeletes);
      const isProven =
        proof.files === ofCopies.files &&
        proof.files_sum === ofCopies.files_sum &&
        proof.deletes === ofCopies.deletes &&
        proof.deletes_sum === ofCopies.deletes_sum;
      const rows = [...files, ...deletes].filter((row) => row.organization_id === organizationId);
      const agree =
        rows.length === ofCopies.files + ofCopies.deletes &&
        addChecksums(
          emptySum,
          rows.flatMap(({ row_check }) => row_check ?? []),
        ) === addChecksums(ofCopies.files_sum, [ofCopies.deletes_sum]) &&
        catalogFindings({
          state: [],
          files,
          deletes,
          proofs: [{ organization_id: organizationId, ...ofCopies }],
          days: dayProofsOf(wantedFiles),
        }).every((finding) => finding.organizationId !== organizationId);
      // Copies can be damaged like rows: if every row is right and the sums agree, only a copy is damaged.
      const ofOrganization = before.filter((finding) => finding.organizationId === organizationId);
      if (!isProven && !agree) {
        left.push(...ofOrganization);
        continue;
      }
      mended.push(...ofOrganization.map(({ text }) => `organization ${organizationId}: ${text}`));
      if (!apply) continue;
      await writeRows(trx, organizationId, wantedFiles, wantedDeletes, ofCopies);
    }
    return { mended, left };
  });
}

/** Two of the three (position, checksum, copy) must agree. */
function provenPosition(
  state: readonly { readonly sealed_position: number; readonly row_check: string }[],
  copied: ReturnType<typeof readCopy>,
): number | undefined {
  const [row] = state;
  if (copied?.kind !== 'state' || state.length > 1) return undefined;
  const isRight =
    row === undefined || row.row_check === copied.rowCheck || row.sealed_position === copied.sealedPosition;
  return isRight ? copied.sealedPosition : undefined;
}

async function writePosition(trx: Database, position: number): Promise<void> {
  await trx.deleteFrom('tabular_state').execute();
  await trx
    .insertInto('tabular_state')
    .values({ id: 1, sealed_position: position, row_check: stateRowChecksum(position) })
    .execute();
}

type Sums = Omit<TabularProofsTable, 'organization_id'>;

function sumsOf(files: readonly FileRow[], deletes: readonly DeleteRow[]): Sums {
  return {
    files: files.length,
    files_sum: addChecksums(emptySum, files.map(checksumOf)),
    deletes: deletes.length,
    deletes_sum: addChecksums(emptySum, deletes.map(checksumOf)),
  };
}

/** Replaces all rows of an organization. */
async function writeRows(
  trx: Database,
  organizationId: string,
  files: readonly FileRow[],
  deletes: readonly DeleteRow[],
  sums: Sums,
): Promise<void> {
  await trx.deleteFrom('tabular_files').where('organization_id', '=', organizationId).execute();
  await trx.deleteFrom('tabular_deletes').where('organization_id', '=', organizationId).execute();
  // A row whose organization was changed is stored under another organization.
  for (const row of files) {
    await trx.deleteFrom('tabular_files').where('file', '=', row.file).execute();
    await trx
      .insertInto('tabular_files')
      .values({ ...row, proof_day: proofDayOf(row) })
      .execute();
  }
  for (const row of deletes) {
    await trx.deleteFrom('tabular_deletes').where('id', '=', row.id).execute();
    await trx.insertInto('tabular_deletes').values(row).execute();
  }
  for (const table of ['tabular_proofs', 'tabular_day_proofs'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
  await insertDayProofs(trx, files);
  if (sums.files + sums.deletes > 0)
    await trx
      .insertInto('tabular_proofs')
      .values({ organization_id: organizationId, ...sums })
      .execute();
}

function checksumOf({ row_check }: { readonly row_check: string | null }): string {
  return row_check ?? emptySum;
}
