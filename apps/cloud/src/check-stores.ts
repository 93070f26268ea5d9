/** The stores of a data directory belong together: a log that is older than what was made of it is refused (I3). */
import { PlatformError } from '@platform/base';
import type { IngestLog } from './ingest/log.ts';
import type { Database } from './metadata/tables.ts';

/** @throws data_loss when the log ends before a position that the catalog or a follower has seen. */
export async function checkStores(
  db: Database,
  ingestLog: Pick<IngestLog, 'lastPosition'>,
  path: string,
): Promise<void> {
  const { sealed_position: sealed } = await db
    .selectFrom('tabular_state')
    .select('sealed_position')
    .executeTakeFirstOrThrow();
  const cursors = await db.selectFrom('trigger_cursors').select('position').execute();
  const files = await db.selectFrom('binary_data_cursor').select('position').execute();
  const seen = Math.max(sealed, ...[...cursors, ...files].map((cursor) => cursor.position));
  const last = ingestLog.lastPosition();
  if (last >= seen) return;
  throw new PlatformError(
    'data_loss',
    `data directory ${path}: expected ingest.sqlite to reach position ${seen}, which meta.sqlite has seen, found it to end at ${last}: the two are not of the same moment. Nothing was changed; restore both from one backup`,
  );
}
