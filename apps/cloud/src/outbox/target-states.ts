/**
 * What happened last at each target of each trigger: the outcome of its latest attempt, written in the transaction that records the attempt.
 * A row is deleted 30 days after its last attempt, like the messages themselves.
 */
import { chunks } from '@platform/base';
import { sql } from 'kysely';
import type { GatheredMessage } from './channel.ts';
import { isEnvelopeRight } from './envelope.ts';
import type { MessageState, OutboxDatabase, OutboxTargetRow, OutboxTransaction } from './store.ts';

// Rows of 10 columns each: stores limit the number of values in a statement.
const rowsPerStatement = 500;
const keptMs = 30 * 86_400_000;

export interface Outcome {
  readonly message: GatheredMessage;
  /** The state of the message after the attempt. */
  readonly state: MessageState;
  /** Whether it was rejected; if not, a failed message has no attempts left. */
  readonly isRejected: boolean;
  /** Start of the attempt. */
  readonly atMs: number;
  /** Why it was not delivered, for people; empty: it was. */
  readonly reason: string;
}

/** Messages that no trigger caused, and altered ones, whose target is unknown, are left out. */
export async function recordOutcomes(trx: OutboxTransaction, outcomes: readonly Outcome[]): Promise<void> {
  const latest = new Map<string, OutboxTargetRow>();
  for (const outcome of outcomes) {
    const { message } = outcome;
    if (message.trigger_name === '' || !isEnvelopeRight(message)) continue;
    const row = rowOf(outcome);
    const key = JSON.stringify([row.part_id, row.trigger_name, row.channel, row.target]);
    const before = latest.get(key);
    if (before !== undefined && before.at > row.at) continue;
    latest.set(key, { ...row, delivered_at: row.delivered_at ?? before?.delivered_at ?? null });
  }
  for (const some of chunks([...latest.values()], rowsPerStatement))
    await trx
      .insertInto('outbox_targets')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['part_id', 'trigger_name', 'channel', 'target'])
          .doUpdateSet(({ ref }) => ({
            organization_id: ref('excluded.organization_id'),
            state: ref('excluded.state'),
            at: ref('excluded.at'),
            reason: ref('excluded.reason'),
            message_id: ref('excluded.message_id'),
            message_at: ref('excluded.message_at'),
            delivered_at: sql<number | null>`coalesce(${ref('excluded.delivered_at')}, outbox_targets.delivered_at)`,
          }))
          .whereRef('excluded.at', '>=', 'outbox_targets.at'),
      )
      .execute();
}

function rowOf({ message, state, isRejected, atMs, reason }: Outcome): OutboxTargetRow {
  const { organization_id, part_id, trigger_name, channel, target, id, created_at } = message;
  return {
    ...{ organization_id, part_id, trigger_name, channel, target, reason, at: atMs },
    state: state === 'delivered' || state === 'kept' ? state : isRejected ? 'refused' : 'failing',
    ...{ message_id: id, message_at: created_at, delivered_at: state === 'delivered' ? atMs : null },
  };
}

/** The targets of the triggers of a part. */
export async function targetsOf(db: OutboxDatabase, partId: string): Promise<readonly OutboxTargetRow[]> {
  return await db.selectFrom('outbox_targets').selectAll().where('part_id', '=', partId).execute();
}

/** The parts with a target that did not get its last notification. */
export async function partsInTrouble(db: OutboxDatabase, organizationId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('outbox_targets')
    .select('part_id')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('state', '!=', 'delivered')
    .execute();
  return new Set(rows.map(({ part_id }) => part_id));
}

/** Deletes those whose last attempt was over 30 days ago. */
export async function pruneTargets(db: OutboxDatabase, nowMs: number): Promise<void> {
  await db
    .deleteFrom('outbox_targets')
    .where('at', '<', nowMs - keptMs)
    .execute();
}
