/** Writes what an attempt came to: the attempt, the message's next state, and targets that want nothing more. */
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import { waitMs } from './classify.ts';
import type { Attempt } from './send-webhook.ts';
import type { MessageState, NotifyMessageRow, NotifyTables } from './store.ts';

export interface Judgement {
  readonly state: MessageState;
  readonly nextAttemptAtMs: number;
  /** Empty when accepted. */
  readonly error: string;
}

export interface Recorder {
  /** Reads, once, which targets are paused. */
  load(): Promise<void>;
  isPaused(organizationId: string, target: string): boolean;
  /** What follows from the attempt. A target that answered 410 gets nothing more from here on, though that is still to be recorded. */
  judge(row: NotifyMessageRow, attempt: Attempt): Judgement;
  /** Tries until it is written or the signal is aborted: a message whose outcome is unknown would be sent again. */
  record(
    row: NotifyMessageRow,
    atMs: number,
    attempt: Attempt,
    judgement: Judgement,
    signal: AbortSignal,
  ): Promise<void>;
  /** The message comes to its end without being sent. */
  cancel(id: string): Promise<void>;
  pause(organizationId: string, target: string, reason: string): Promise<void>;
  resume(organizationId: string, target: string): Promise<void>;
}

export function createRecorder(options: { db: Kysely<NotifyTables>; clock: Clock; log: Log }): Recorder {
  const { db, clock, log } = options;
  const paused = new Set<string>();
  let loaded = false;

  const write = (row: NotifyMessageRow, atMs: number, attempt: Attempt, judgement: Judgement): Promise<void> =>
    db.transaction().execute(async (trx) => {
      await trx
        .insertInto('notify_attempts')
        .values({
          message_id: row.id,
          attempt: row.attempts + 1,
          at: atMs,
          duration_ms: attempt.durationMs,
          outcome: attempt.outcome,
          code: attempt.code ?? null,
          error: attempt.error ?? null,
          response: attempt.response ?? null,
        })
        // A second try after a commit whose answer was lost.
        .onConflict((conflict) => conflict.columns(['message_id', 'attempt']).doNothing())
        .execute();
      await trx
        .updateTable('notify_messages')
        .set({
          attempts: row.attempts + 1,
          state: judgement.state,
          next_attempt_at: judgement.nextAttemptAtMs,
          finished_at: judgement.state === 'pending' ? null : clock.now(),
        })
        .where('id', '=', row.id)
        .execute();
      if (attempt.code === 410) await pauseIn(trx, row.organization_id, row.target, attempt.error ?? '', clock.now());
    });

  return {
    async load() {
      if (loaded) return;
      const rows = await db.selectFrom('notify_paused_targets').select(['organization_id', 'target']).execute();
      for (const row of rows) paused.add(targetKey(row.organization_id, row.target));
      loaded = true;
    },
    async cancel(id) {
      await db
        .updateTable('notify_messages')
        .set({ state: 'cancelled', finished_at: clock.now() })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .execute();
    },
    isPaused: (organizationId, target) => paused.has(targetKey(organizationId, target)),
    judge(row, attempt) {
      const now = clock.now();
      if (attempt.code === 410) paused.add(targetKey(row.organization_id, row.target));
      if (attempt.outcome === 'accepted') return { state: 'delivered', nextAttemptAtMs: now, error: '' };
      const error = attempt.error ?? 'unknown error';
      if (attempt.outcome === 'rejected') return { state: 'failed', nextAttemptAtMs: now, error };
      const made = row.attempts + 1;
      const wait = waitMs(made, attempt.retryAfterMs);
      if (wait !== undefined) return { state: 'pending', nextAttemptAtMs: now + wait, error };
      return { state: 'failed', nextAttemptAtMs: now, error: `${error}; given up after ${made} attempts` };
    },
    async record(row, atMs, attempt, judgement, signal) {
      for (let failures = 1; ; failures++) {
        try {
          await write(row, atMs, attempt, judgement);
          break;
        } catch (caught) {
          log.error('an attempt could not be recorded, trying again', { messageId: row.id, error: errorText(caught) });
          await clock.sleep(backoffMs(failures), signal);
        }
      }
      // Again, as it stands in the table: it may have been resumed meanwhile.
      if (attempt.code === 410) paused.add(targetKey(row.organization_id, row.target));
    },
    async pause(organizationId, target, reason) {
      paused.add(targetKey(organizationId, target));
      await db.transaction().execute((trx) => pauseIn(trx, organizationId, target, reason, clock.now()));
    },
    async resume(organizationId, target) {
      await db.transaction().execute(async (trx) => {
        await trx
          .deleteFrom('notify_paused_targets')
          .where('organization_id', '=', organizationId)
          .where('target', '=', target)
          .execute();
        await trx
          .updateTable('notify_messages')
          .set({ state: 'pending', next_attempt_at: clock.now() })
          .where('organization_id', '=', organizationId)
          .where('target', '=', target)
          .where('state', '=', 'paused')
          .execute();
      });
      paused.delete(targetKey(organizationId, target));
    },
  };
}

async function pauseIn(
  trx: Transaction<NotifyTables>,
  organizationId: string,
  target: string,
  reason: string,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('notify_paused_targets')
    .values({ organization_id: organizationId, target, paused_at: nowMs, reason })
    .onConflict((conflict) => conflict.columns(['organization_id', 'target']).doNothing())
    .execute();
  await trx
    .updateTable('notify_messages')
    .set({ state: 'paused' })
    .where('organization_id', '=', organizationId)
    .where('target', '=', target)
    .where('state', '=', 'pending')
    .execute();
}

function targetKey(organizationId: string, target: string): string {
  return `${organizationId} ${target}`;
}
