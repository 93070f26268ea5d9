/**
 * A chain of hashes over the audit trail: each link has the hash of an entry and of the previous link, which reveals entries that were
 * changed, removed or inserted afterwards. Entries are chained within seconds of being written; if the chain were written with them, all
 * changes of the installation would wait for each other.
 *
 * It protects against changes of entries, but not against rewriting the whole chain: to detect that, keep the last hash elsewhere.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../metadata/tables.ts';
import type { AuditEntry } from './audit-entries.ts';

export interface AuditReport {
  /** Number of entries in the chain. */
  readonly entries: number;
  /** Hash of the last link; empty: there is none. */
  readonly hash: string;
  /** Human-readable; empty: the trail is intact. */
  readonly problems: readonly string[];
}

const entriesAtOnce = 500;
const pageSize = 5_000;
const maxProblems = 100;
/** On Postgres an entry may be committed after one with a higher id: this many ids back are still checked. */
const lateIds = 1_000;
/** Calls are counted for 10 s; entries that are open for longer than this were not made by us. */
const maxOpenMs = 3_600_000;

/** Adds the entries that are not yet in the chain; true: there may be more. */
export async function extendAuditChain(db: Database): Promise<boolean> {
  const after = await lastSettledId(db);
  if ((await toChain(db, after).limit(1).execute()).length === 0) return false;
  return await db.transaction().execute(async (trx) => {
    const last = await trx.selectFrom('audit_chain').selectAll().orderBy('link', 'desc').limit(1).executeTakeFirst();
    const entries = await toChain(trx, after).orderBy('id').limit(entriesAtOnce).execute();
    let [link, hash] = [last?.link ?? 0, last?.hash ?? ''];
    const rows = entries.map((entry) => {
      link += 1;
      hash = hashOf(hash, entry);
      return { link, entry_id: entry.id, hash };
    });
    if (rows.length > 0) await trx.insertInto('audit_chain').values(rows).execute();
    const counted = entries.filter(({ stage }) => stage === 2).map(({ id }) => id);
    if (counted.length > 0)
      await trx.updateTable('audit_entries').set({ stage: 0 }).where('id', 'in', counted).execute();
    return rows.length === entriesAtOnce;
  });
}

/** Follows the whole chain. The latest entries may not be in it yet. */
export async function checkAuditChain(db: Database): Promise<AuditReport> {
  const problems: string[] = [];
  const say = (problem: string): void => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  let [link, hash] = [0, ''];
  for (;;) {
    const page = await db
      .selectFrom('audit_chain')
      .leftJoin('audit_entries', 'audit_entries.id', 'audit_chain.entry_id')
      .selectAll('audit_entries')
      .select(['audit_chain.link', 'audit_chain.entry_id', 'audit_chain.hash'])
      .where('audit_chain.link', '>', link)
      .orderBy('audit_chain.link')
      .limit(pageSize)
      .execute();
    for (const { link: found, entry_id, hash: given, ...entry } of page) {
      if (found !== link + 1) say(`audit chain: expected link ${link + 1}, found link ${found}: links are missing`);
      if (entry.id === null) say(`audit entry ${entry_id}: it is missing`);
      else if (hashOf(hash, entry as AuditEntry) !== given)
        say(`audit entry ${entry_id} (${entry.action}, ${new Date(entry.at_ms ?? 0).toISOString()}): it was changed`);
      [link, hash] = [found, given];
    }
    if (page.length < pageSize) break;
  }
  const newest = await db.selectFrom('audit_entries').select('at_ms').orderBy('id', 'desc').limit(1).executeTakeFirst();
  const slipped = await unchained(db)
    .where('id', '<=', await lastSettledId(db))
    .where(({ eb, or }) => or([eb('stage', '=', 0), eb('at_ms', '<', (newest?.at_ms ?? 0) - maxOpenMs)]))
    .limit(maxProblems)
    .execute();
  for (const { id, action } of slipped) say(`audit entry ${id} (${action}): it is not in the chain`);
  return { entries: link, hash, problems };
}

/** Final entries without a link. @param after others with lower ids have one, except those that became final late */
function toChain(db: Database, after: number) {
  return unchained(db).where(({ eb, or, and }) =>
    or([eb('stage', '=', 2), and([eb('stage', '=', 0), eb('id', '>', after)])]),
  );
}

function unchained(db: Database) {
  return db
    .selectFrom('audit_entries')
    .selectAll()
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('audit_chain')
            .select('audit_chain.link')
            .whereRef('audit_chain.entry_id', '=', 'audit_entries.id'),
        ),
      ),
    );
}

/** Entries up to this id are in the chain, unless they were inserted later with an old id. */
async function lastSettledId(db: Database): Promise<number> {
  const row = await db
    .selectFrom('audit_chain')
    .select(({ fn }) => fn.max<number | null>('entry_id').as('last'))
    .executeTakeFirst();
  return Math.max(0, Number(row?.last ?? 0) - lateIds);
}

function hashOf(before: string, entry: AuditEntry): string {
  const values = [
    ...[entry.id, entry.at_ms, entry.actor_kind, entry.actor_id, entry.actor_name, entry.action],
    ...[entry.organization_id, entry.target_kind, entry.target_id, entry.detail, entry.peer_address],
  ];
  return createHash('sha256')
    .update(JSON.stringify([before, ...values]))
    .digest('hex');
}
