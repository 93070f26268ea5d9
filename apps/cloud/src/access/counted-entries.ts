/**
 * Audit entries about more than one call. An open entry is in the trail before its first call is sent on; while it is open, only its detail
 * may change, and the chain of hashes leaves it out; it gets its link once it is final, after entries with higher ids. What an entry says when the cloud is killed stays, and is closed at the next start.
 */
import { chunks } from '@platform/base';
import type { Insertable } from 'kysely';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { Database } from '../metadata/tables.ts';
import { type AuditTarget, type Caller, entryOf } from './audit.ts';
import type { AccessTables } from './store.ts';

type Detail = Readonly<Record<string, unknown>>;

/** Adds an entry whose detail may still change; returns its id. Parameters as for `audit`. */
export async function openEntry(
  db: Database,
  by: Caller,
  nowMs: number,
  action: string,
  target: AuditTarget,
  detail: Detail,
): Promise<number> {
  const entry = { ...entryOf(by, nowMs, action, target, detail), stage: 1 };
  const { id } = await db.insertInto('audit_entries').values(entry).returning('id').executeTakeFirstOrThrow();
  return id;
}

/** From now on, the entry is final. @param detail undefined: what it says already */
export async function closeEntry(db: Database, id: number, detail: Detail | undefined): Promise<void> {
  const final = { stage: 2, ...(detail && { detail: JSON.stringify(detail) }) };
  await db.updateTable('audit_entries').set(final).where('id', '=', id).execute();
}

/** Closes the entries that a killed cloud left open. */
export async function closeLeftOpen(db: Database): Promise<void> {
  await db.updateTable('audit_entries').set({ stage: 2 }).where('stage', '=', 1).execute();
}

/** What a machine says of its callers: entries as they are stored, each with its `report_id`. */
export type ReportedEntry = Insertable<AccessTables['audit_entries']> & { readonly report_id: string };

/** Adds the entries whose `report_id` is new. */
export async function addReported(db: Database, entries: readonly ReportedEntry[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const some of chunks(entries, rowsPerStatement))
      await trx
        .insertInto('audit_entries')
        .values(some)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  });
}
