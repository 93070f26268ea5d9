import type { OutboxDatabase } from './store.ts';

const keptMs = 30 * 86_400_000;
const rowsPerStep = 500;

/**
 * Deletes messages created over 30 days ago that are finished or wait for a paused target, with their attempts; true: there may be more.
 */
export async function pruneMessages(db: OutboxDatabase, nowMs: number): Promise<boolean> {
  const old = await db
    .selectFrom('outbox_messages')
    .select('id')
    .where('created_at', '<', nowMs - keptMs)
    .where('state', '!=', 'pending')
    .orderBy('created_at')
    .limit(rowsPerStep)
    .execute();
  if (old.length === 0) return false;
  const ids = old.map(({ id }) => id);
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('outbox_attempts').where('message_id', 'in', ids).execute();
    await trx.deleteFrom('outbox_messages').where('id', 'in', ids).execute();
  });
  return ids.length === rowsPerStep;
}
