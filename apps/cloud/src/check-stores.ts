/** Checks that the stores of a data directory match: a log that ends before positions already processed has lost its end (I3, D33). */
import type { Log } from '@platform/base';
import { lastStoredPosition } from './binary/uploads/insert-uploads.ts';
import { cursorPositions } from './follow-log/cursor.ts';
import type { IngestLog } from './ingest/log/log.ts';
import type { Database } from './metadata/tables.ts';
import { provenPositions } from './tabular/integrity/proven-positions.ts';

/** No installation reaches this position; a larger number is itself damaged. Each restore of a log skips 2^40 positions. */
const crediblePositions = 2 ** 45;

/**
 * Must be called before anything is appended or followed. A loss is logged and recorded, and the log continues after every position that
 * was already assigned. The cloud then serves the data it still has; followers of the log discover the gap themselves.
 */
export async function checkStores(
  db: Database,
  ingestLog: Pick<IngestLog, 'lastPosition' | 'resumeAfter' | 'recordLoss'>,
  log: Log,
): Promise<void> {
  const last = ingestLog.lastPosition();
  const proofs = (await readProofs(db)).filter(({ position }) => position > last && position < crediblePositions);
  const [furthest] = proofs.toSorted((a, b) => b.position - a.position);
  if (furthest === undefined) return;
  log.error(
    'the ingest log has lost its end: acknowledged uploads are gone; restore both stores from a backup, or continue with the remaining data',
    { lastPosition: last, proven: furthest.position, by: furthest.by },
  );
  await ingestLog.resumeAfter(furthest.position);
  await ingestLog.recordLoss('log', {
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

/** Positions that the log has already assigned, according to the metadata. */
async function readProofs(db: Database): Promise<readonly Proof[]> {
  return [
    ...(await provenPositions(db)),
    ...(await cursorPositions(db)).map(({ name, position }) => ({ by: `the cursor of ${name}`, position })),
    { by: 'a stored file', position: await lastStoredPosition(db) },
  ];
}
