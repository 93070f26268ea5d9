/** The stores of a data directory belong together: a log that ends before what was made of it has lost its end (I3, D33). */
import type { Log } from '@platform/base';
import type { IngestLog } from './ingest/log/log.ts';
import type { Database } from './metadata/tables.ts';
import { deleteRowChecksum, fileRowChecksum, stateRowChecksum } from './tabular/integrity/row-checksum.ts';

/** No installation gets as far; a larger number is damaged itself. Restored logs skip 2^40 positions each. */
const crediblePositions = 2 ** 45;

/** As many of the furthest rows are looked at: more than can be damaged in one tail. */
const looks = 100;

/**
 * Before anything is appended or followed. A loss is told and kept in mind, positions that were given away are passed by, and
 * the cloud serves what is there: whoever follows the log finds what it lacks by itself.
 */
export async function checkStores(
  db: Database,
  ingestLog: Pick<IngestLog, 'lastPosition' | 'goOnAfter' | 'noteLoss'>,
  log: Log,
): Promise<void> {
  const last = ingestLog.lastPosition();
  const proofs = (await readProofs(db)).filter(({ position }) => position > last && position < crediblePositions);
  const [furthest] = proofs.toSorted((a, b) => b.position - a.position);
  if (furthest === undefined) return;
  log.error(
    'the ingest log has lost its end: uploads that were acknowledged are gone; restore both stores from a backup, or go on with what is there',
    { lastPosition: last, proven: furthest.position, by: furthest.by },
  );
  await ingestLog.goOnAfter(furthest.position);
  await ingestLog.noteLoss('log', {
    first: last + 1,
    last: furthest.position,
    parts: null,
    reason: `the log ended at position ${last}, and ${furthest.by} proves position ${furthest.position}`,
  });
}

interface Proof {
  readonly by: string;
  readonly position: number;
}

/** What the metadata knows of positions that the log must have given away. */
async function readProofs(db: Database): Promise<readonly Proof[]> {
  // Rows that are damaged themselves prove nothing; those without a checksum are of an earlier version.
  const isProof = (check: string | null, right: string): boolean => check === null || check === right;
  const states = await db.selectFrom('tabular_state').selectAll().execute();
  const files = await db.selectFrom('tabular_files').selectAll().orderBy('max_position', 'desc').limit(looks).execute();
  const deletes = await db.selectFrom('tabular_deletes').selectAll().orderBy('up_to', 'desc').limit(looks).execute();
  const cursors = await db.selectFrom('log_cursors').selectAll().execute();
  const binary = await db
    .selectFrom('binary_data')
    .select(({ fn }) => fn.max('position').as('position'))
    .execute();
  const proofs = (by: string, positions: readonly (number | null)[]): Proof[] =>
    positions.map((position) => ({ by, position: Number(position ?? 0) }));
  return [
    ...proofs(
      'the sealed position',
      states
        .filter((row) => isProof(row.row_check, stateRowChecksum(row.sealed_position)))
        .map((row) => row.sealed_position),
    ),
    ...proofs(
      'a sealed file',
      files.filter((row) => isProof(row.row_check, fileRowChecksum(row))).map((row) => row.max_position),
    ),
    ...proofs(
      'a deletion',
      deletes.filter((row) => isProof(row.row_check, deleteRowChecksum(row))).map((row) => row.up_to),
    ),
    ...cursors.flatMap(({ name, position }) => proofs(`the cursor of ${name}`, [position])),
    ...proofs(
      'a stored file',
      binary.map(({ position }) => position),
    ),
  ];
}
