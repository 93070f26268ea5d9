/** The stores of a data directory belong together: a log that ends before what was made of it has lost its end (I3, D33). */
import type { Log } from '@platform/base';
import { lastStoredPosition } from './binary/uploads/insert-uploads.ts';
import { cursorPositions } from './follow-log/cursor.ts';
import type { IngestLog } from './ingest/log/log.ts';
import type { Database } from './metadata/tables.ts';
import { provenPositions } from './tabular/integrity/proven-positions.ts';

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
    'the ingest log has lost its end: acknowledged uploads are gone; restore both stores from a backup, or continue with what is left',
    { lastPosition: last, proven: furthest.position, by: furthest.by },
  );
  await ingestLog.goOnAfter(furthest.position);
  await ingestLog.noteLoss('log', {
    first: last + 1,
    last: furthest.position,
    parts: null,
    reason: `the log ends at position ${last}, but ${furthest.by} proves position ${furthest.position}`,
  });
}

interface Proof {
  readonly by: string;
  readonly position: number;
}

/** What the metadata knows of positions that the log must have given away. */
async function readProofs(db: Database): Promise<readonly Proof[]> {
  return [
    ...(await provenPositions(db)),
    ...(await cursorPositions(db)).map(({ name, position }) => ({ by: `the cursor of ${name}`, position })),
    { by: 'a stored file', position: await lastStoredPosition(db) },
  ];
}
