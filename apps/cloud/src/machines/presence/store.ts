/**
 * The tables of presence: one row for each part that ever had contact (a part without a row awaits setup), and its transitions of the last 30
 * days.
 */
import { chunks } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Schema } from '../../metadata/sqlite/writer-protocol.ts';

export interface PresenceTables {
  part_presence: {
    part_id: string;
    online: number;
    /** Counts the part's transitions from 1, its first contact: odd is online, even is offline. */
    number: number;
    /** When the last transition was recorded; wall clock, ms. */
    changed_ms: number;
    /** The last stored contact; the current value is in memory. */
    last_seen_ms: number;
    /** Time between its polls for the configuration; 0: at most 20 s, or not said. */
    poll_ms: number;
  };
  part_transitions: {
    part_id: string;
    /** See part_presence. */
    number: number;
    online: number;
    /** Wall clock, ms. */
    at_ms: number;
  };
}

export type PresenceRow = PresenceTables['part_presence'];

const keptMs = 30 * 86_400_000;

/** Transitions of a part in [from, until), wall clock in ms, in order. */
export async function transitionsOf(
  db: Kysely<PresenceTables>,
  partId: string,
  fromMs: number,
  untilMs: number,
): Promise<{ number: number; status: 'online' | 'offline'; atMs: number }[]> {
  const rows = await db
    .selectFrom('part_transitions')
    .selectAll()
    .where('part_id', '=', partId)
    .where('at_ms', '>=', fromMs)
    .where('at_ms', '<', untilMs)
    .orderBy('number')
    .execute();
  return rows.map(({ number, online, at_ms: atMs }) => ({ number, status: online === 1 ? 'online' : 'offline', atMs }));
}

/** Must be called in the transaction that records the rows after the transitions. */
export async function saveTransitions(trx: Transaction<PresenceTables>, rows: readonly PresenceRow[]): Promise<void> {
  for (const some of chunks(rows, rowsPerStatement))
    await trx
      .insertInto('part_transitions')
      .values(some.map(({ part_id, number, online, changed_ms }) => ({ part_id, number, online, at_ms: changed_ms })))
      .onConflict((conflict) => conflict.columns(['part_id', 'number']).doNothing())
      .execute();
}

/** Deletes transitions older than 30 days. */
export async function pruneTransitions(trx: Transaction<PresenceTables>, nowMs: number): Promise<void> {
  await trx
    .deleteFrom('part_transitions')
    .where('at_ms', '<', nowMs - keptMs)
    .execute();
}

export function loadPresence(db: Kysely<PresenceTables>): Promise<PresenceRow[]> {
  return db.selectFrom('part_presence').selectAll().execute();
}

export async function savePresence(trx: Transaction<PresenceTables>, rows: readonly PresenceRow[]): Promise<void> {
  for (const some of chunks(rows, rowsPerStatement)) {
    await trx
      .insertInto('part_presence')
      .values(some)
      .onConflict((conflict) =>
        conflict.column('part_id').doUpdateSet((row) => ({
          online: row.ref('excluded.online'),
          number: row.ref('excluded.number'),
          changed_ms: row.ref('excluded.changed_ms'),
          last_seen_ms: row.ref('excluded.last_seen_ms'),
          poll_ms: row.ref('excluded.poll_ms'),
        })),
      )
      .execute();
  }
}

export async function forgetPresence(trx: Transaction<PresenceTables>, partIds: readonly string[]): Promise<void> {
  for (const some of chunks(partIds, rowsPerStatement)) {
    await trx.deleteFrom('part_presence').where('part_id', 'in', some).execute();
    await trx.deleteFrom('part_transitions').where('part_id', 'in', some).execute();
  }
}

export const presenceSchema: Schema = {
  statements: [
    'create table part_presence (part_id text primary key, online integer not null, number integer not null, changed_ms bigint not null, last_seen_ms bigint not null, poll_ms bigint not null default 0)',
    'create table part_transitions (part_id text not null, number integer not null, online integer not null, at_ms bigint not null, primary key (part_id, number))',
    'create index part_transitions_by_time on part_transitions (at_ms)',
  ],
};
