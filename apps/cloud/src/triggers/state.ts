/** Reads and writes of the triggers' tables. */
import type { Kysely, Transaction } from 'kysely';
import type { TriggersTables } from './store.ts';
import { type ThrottleKey, Throttles } from './throttle.ts';

/** Position after which each trigger fires; 0 for triggers without a record. */
export async function loadStarts(
  db: Kysely<TriggersTables>,
  partIds: readonly string[],
): Promise<(partId: string, triggerName: string) => number> {
  if (partIds.length === 0) return () => 0;
  const rows = await db.selectFrom('trigger_starts').selectAll().where('part_id', 'in', partIds).execute();
  const starts = new Map(rows.map((row) => [JSON.stringify([row.part_id, row.trigger_name]), row.position]));
  return (partId, triggerName) => starts.get(JSON.stringify([partId, triggerName])) ?? 0;
}

export async function loadThrottles(db: Kysely<TriggersTables>, partIds: readonly string[]): Promise<Throttles> {
  const throttles = new Throttles();
  if (partIds.length === 0) return throttles;
  const rows = await db.selectFrom('trigger_throttles').selectAll().where('part_id', 'in', partIds).execute();
  for (const row of rows) {
    const { part_id: partId, trigger_name: triggerName, notification, last_event_at: lastEventAtMs } = row;
    throttles.load({ partId, triggerName, notification }, lastEventAtMs);
  }
  return throttles;
}

export async function saveThrottles(
  trx: Transaction<TriggersTables>,
  changes: readonly (ThrottleKey & { readonly lastEventAtMs: number })[],
): Promise<void> {
  if (changes.length === 0) return;
  await trx
    .insertInto('trigger_throttles')
    .values(
      changes.map(({ partId, triggerName, notification, lastEventAtMs }) => ({
        part_id: partId,
        trigger_name: triggerName,
        notification,
        last_event_at: lastEventAtMs,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['part_id', 'trigger_name', 'notification'])
        .doUpdateSet((row) => ({ last_event_at: row.ref('excluded.last_event_at') })),
    )
    .execute();
}

/** An upload for which a trigger cannot be evaluated. */
export interface Undecided {
  readonly position: number;
  readonly triggerName: string;
  readonly partId: string;
  readonly reason: string;
  readonly atMs: number;
}

export async function saveUndecided(trx: Transaction<TriggersTables>, undecided: readonly Undecided[]): Promise<void> {
  if (undecided.length === 0) return;
  await trx
    .insertInto('trigger_damaged_rows')
    .values(
      undecided.map(({ position, triggerName, partId, reason, atMs }) => ({
        position,
        trigger_name: triggerName,
        part_id: partId,
        reason,
        at: atMs,
      })),
    )
    .onConflict((conflict) => conflict.columns(['position', 'trigger_name']).doNothing())
    .execute();
}
