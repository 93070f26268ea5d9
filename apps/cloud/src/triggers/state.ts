/** Reads and writes of the triggers' tables. */
import { PlatformError } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { TriggersTables } from './store.ts';
import { type ThrottleKey, Throttles } from './throttle.ts';

const cursorName = 'triggers';

/** The cursor; a new one stands before the log's first row, because each trigger knows its own start. */
export async function openCursor(db: Kysely<TriggersTables>): Promise<number> {
  const position = await readCursor(db);
  if (position !== undefined) return position;
  await db
    .insertInto('trigger_cursors')
    .values({ name: cursorName, position: 0 })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return 0;
}

export async function readCursor(db: Kysely<TriggersTables>): Promise<number | undefined> {
  const row = await db
    .selectFrom('trigger_cursors')
    .select('position')
    .where('name', '=', cursorName)
    .executeTakeFirst();
  return row?.position;
}

/** Throws aborted when the cursor is not where the caller left it: then another process has decided these rows. */
export async function moveCursor(trx: Transaction<TriggersTables>, from: number, to: number): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('trigger_cursors')
    .set({ position: to })
    .where('name', '=', cursorName)
    .where('position', '=', from)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) {
    throw new PlatformError(
      'aborted',
      `expected the cursor of the triggers at position ${from}, found it elsewhere; is another cloud running on this data?`,
    );
  }
}

/** Position after which each trigger is to fire; 0 for those that have none recorded. */
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

export interface DamagedRow {
  readonly position: number;
  /** Empty: the row itself. */
  readonly triggerName: string;
  readonly partId: string;
  readonly reason: string;
  readonly atMs: number;
}

export async function saveDamaged(trx: Transaction<TriggersTables>, damaged: readonly DamagedRow[]): Promise<void> {
  if (damaged.length === 0) return;
  await trx
    .insertInto('trigger_damaged_rows')
    .values(
      damaged.map(({ position, triggerName, partId, reason, atMs }) => ({
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
