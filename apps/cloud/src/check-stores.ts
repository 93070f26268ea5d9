/** The stores of a data directory belong together: a log that ends before what was made of it has lost its end (I3, D33). */
import type { Log } from '@platform/base';
import type { IngestLog } from './ingest/log.ts';
import type { Database } from './metadata/tables.ts';

/** No installation gets as far; a larger number is damaged itself. Restored logs skip 2^40 positions each. */
const crediblePositions = 2 ** 45;

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
  const sealed = await db.selectFrom('tabular_state').select('sealed_position as position').executeTakeFirst();
  const files = await db
    .selectFrom('tabular_files')
    .select(({ fn }) => fn.max('max_position').as('position'))
    .execute();
  const deletes = await db
    .selectFrom('tabular_deletes')
    .select(({ fn }) => fn.max('up_to').as('position'))
    .execute();
  const cursors = await db.selectFrom('trigger_cursors').select('position').execute();
  const binaryCursors = await db.selectFrom('binary_data_cursor').select('position').execute();
  const binary = await db
    .selectFrom('binary_data')
    .select(({ fn }) => fn.max('position').as('position'))
    .execute();
  const proofs = (by: string, rows: readonly ({ readonly position: number | null } | undefined)[]): Proof[] =>
    rows.map((row) => ({ by, position: Number(row?.position ?? 0) }));
  return [
    ...proofs('the sealed position', [sealed]),
    ...proofs('a sealed file', files),
    ...proofs('a deletion', deletes),
    ...proofs('the cursor of the triggers', cursors),
    ...proofs('the cursor of binary data', binaryCursors),
    ...proofs('a stored file', binary),
  ];
}
