import type { Database } from '../metadata/tables.ts';
import type { Registry } from './registry.ts';

/** Returns true once after an owner requested a restart of the part. */
export async function consumeRestartRequest(db: Database, registry: Registry, partId: string): Promise<boolean> {
  const part = registry.part(partId);
  if (part === undefined || part.restart_requested_ms === null) return false;
  // Only one of two simultaneous calls gets true. A restart requested in the meantime is left for the next call.
  const { numUpdatedRows } = await db
    .updateTable('parts')
    .set({ restart_requested_ms: null })
    .where('id', '=', partId)
    .where('restart_requested_ms', '=', part.restart_requested_ms)
    .executeTakeFirst();
  const now = registry.part(partId);
  if (numUpdatedRows === 1n && now !== undefined && now.restart_requested_ms === part.restart_requested_ms)
    registry.putPart({ ...now, restart_requested_ms: null });
  return numUpdatedRows === 1n;
}
