/** Divides the proofs of a catalog of an earlier version by day, once, in one transaction. */
import type { Kysely } from 'kysely';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { anyDay, type DatedFile, proofDayOf } from '../catalog/proof-days.ts';
import type { TabularDayProofsTable } from '../store.ts';
import { catalogFindings } from './catalog-findings.ts';
import { addChecksums, emptySum } from './row-checksum.ts';

/** Does nothing if this has been done. */
export async function divideProofs(db: Database): Promise<void> {
  const isOlder = await db.selectFrom('tabular_files').select('file').where('proof_day', 'is', null).executeTakeFirst();
  if (isOlder === undefined) return;
  await db.transaction().execute(async (trx) => {
    const files = await trx.selectFrom('tabular_files').selectAll().execute();
    const known = await trx.selectFrom('tabular_day_proofs').select('proof_day').executeTakeFirst();
    // Rows that lack only their day were added or changed by something else.
    if (known !== undefined || files.some((row) => row.proof_day !== null)) return;
    const deletes = await trx.selectFrom('tabular_deletes').selectAll().execute();
    const proofs = await trx.selectFrom('tabular_proofs').selectAll().execute();
    const findings = catalogFindings({ state: [], files, deletes, proofs, days: [] });
    const damaged = new Set(findings.map(({ organizationId }) => organizationId));
    await insertDayProofs(
      trx,
      files.filter((row) => !damaged.has(row.organization_id)),
    );
    // Where rows are missing, nothing says of which days: until the repair, the set that every query proves lacks all of them.
    for (const { organization_id, files: rows, files_sum } of proofs)
      if (damaged.has(organization_id))
        await trx
          .insertInto('tabular_day_proofs')
          .values({ organization_id, proof_day: anyDay, files: rows, files_sum })
          .execute();
    for (const row of files)
      await trx
        .updateTable('tabular_files')
        .set({ proof_day: proofDayOf(row) })
        .where('file', '=', row.file)
        .execute();
  });
}

type ProvenFile = DatedFile & { readonly organization_id: string; readonly row_check: string | null };

export async function insertDayProofs(trx: Kysely<CloudTables>, files: readonly ProvenFile[]): Promise<void> {
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
        rows.flatMap(({ row_check: check }) => check ?? []),
      ),
    })),
  );
}
