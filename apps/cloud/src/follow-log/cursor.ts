/** Reads and writes of a follower's cursor. */
import { aborted } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { LogCursorsTables } from './store.ts';

/** Position of a cursor; 0 before the first start. */
export async function readCursor(db: Kysely<LogCursorsTables>, name: string): Promise<number> {
  const row = await db.selectFrom('log_cursors').select('position').where('name', '=', name).executeTakeFirst();
  return row?.position ?? 0;
}

/** Cursors of all followers. */
export function cursorPositions(
  db: Kysely<LogCursorsTables>,
): Promise<readonly { readonly name: string; readonly position: number }[]> {
  return db.selectFrom('log_cursors').selectAll().execute();
}

/** Returns the position of the cursor; a new cursor is placed after `first`. */
export async function openCursor(
  db: Kysely<LogCursorsTables>,
  name: string,
  beginAfter: () => Promise<number>,
): Promise<number> {
  const row = await db.selectFrom('log_cursors').select('position').where('name', '=', name).executeTakeFirst();
  if (row !== undefined) return row.position;
  await db
    .insertInto('log_cursors')
    .values({ name, position: await beginAfter() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return readCursor(db, name);
}

/** Throws aborted when the cursor is not where the caller left it: another process has then processed these rows. */
export async function moveCursor(
  trx: Transaction<LogCursorsTables>,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('log_cursors')
    .set({ position: to })
    .where('name', '=', name)
    .where('position', '=', from)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  throw aborted(
    `expected the cursor of ${name} at position ${from}, found it at another one; is another cloud using this data?`,
  );
}
