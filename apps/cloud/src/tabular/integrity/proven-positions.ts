/** Positions that the log must have assigned, as proven by the catalog. */
import type { Database } from '../../metadata/tables.ts';
import { isDeleteRowRight, isFileRowRight } from './catalog-findings.ts';
import { stateRowChecksum } from './row-checksum.ts';

/** Number of rows with the highest positions that are checked: more than can be damaged at one end. */
const looks = 100;

/** @returns each position with its proof */
export async function provenPositions(
  db: Database,
): Promise<readonly { readonly by: string; readonly position: number }[]> {
  // Damaged rows prove nothing.
  const states = await db.selectFrom('tabular_state').selectAll().execute();
  const files = await db.selectFrom('tabular_files').selectAll().orderBy('max_position', 'desc').limit(looks).execute();
  const deletes = await db.selectFrom('tabular_deletes').selectAll().orderBy('up_to', 'desc').limit(looks).execute();
  return [
    ...states
      .filter((row) => row.row_check === stateRowChecksum(row.sealed_position))
      .map((row) => ({ by: 'the sealed position', position: row.sealed_position })),
    ...files.filter((row) => isFileRowRight(row)).map((row) => ({ by: 'a sealed file', position: row.max_position })),
    ...deletes.filter((row) => isDeleteRowRight(row)).map((row) => ({ by: 'a deletion', position: row.up_to })),
  ];
}
