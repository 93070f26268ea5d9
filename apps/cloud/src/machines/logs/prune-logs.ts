/** Deletes lines 30 days after their arrival, or after their part was deleted (D29), a bounded number at a time. */
import { dayOf } from './append.ts';
import { retentionMs } from './limits.ts';
import type { MachineLogsDatabase, MachineLogsTransaction } from './store.ts';

const rowsPerPass = 1_000;

/** Must be called in the transaction that deletes the part: its lines may be too many to delete in that transaction. */
export async function removeLogs(trx: MachineLogsTransaction, partId: string): Promise<void> {
  await trx
    .insertInto('machine_log_removals')
    .values({ part_id: partId })
    .onConflict((conflict) => conflict.column('part_id').doNothing())
    .execute();
}

/** Returns true if there may be more to delete. */
export async function pruneLogs(db: MachineLogsDatabase, nowMs: number): Promise<boolean> {
  const removed = await db.selectFrom('machine_log_removals').select('part_id').limit(1).executeTakeFirst();
  if (removed !== undefined) return forgetPart(db, removed.part_id);
  const old = await db
    .selectFrom('machine_logs')
    .select('id')
    .where('received_ms', '<', nowMs - retentionMs)
    .limit(rowsPerPass)
    .execute();
  if (old.length > 0) await deleteLines(db, old);
  if (old.length === rowsPerPass) return true;
  await db
    .deleteFrom('machine_log_days')
    .where('day', '<', dayOf(nowMs - retentionMs))
    .execute();
  return false;
}

async function forgetPart(db: MachineLogsDatabase, partId: string): Promise<boolean> {
  const lines = await db
    .selectFrom('machine_logs')
    .select('id')
    .where('part_id', '=', partId)
    .limit(rowsPerPass)
    .execute();
  if (lines.length > 0) await deleteLines(db, lines);
  if (lines.length < rowsPerPass) {
    await db.transaction().execute(async (trx) => {
      await trx.deleteFrom('machine_log_days').where('part_id', '=', partId).execute();
      await trx.deleteFrom('machine_log_removals').where('part_id', '=', partId).execute();
    });
  }
  return true;
}

async function deleteLines(db: MachineLogsDatabase, lines: readonly { readonly id: number }[]): Promise<void> {
  const ids = lines.map((line) => line.id);
  await db.deleteFrom('machine_logs').where('id', 'in', ids).execute();
}
