/** Records an attempt: the attempt itself, the message's next state, and targets that accept nothing more. */
import { backoffMs, type Clock, chunks, errorText, type Log } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { Channel, GatheredMessage, SendResult } from './channel.ts';
import { countSent } from './count-sent.ts';
import type { MessageState, OutboxMessageRow, OutboxTables } from './store.ts';

const rowsPerStatement = 500;

export interface Attempt {
  /** When it began, wall-clock ms. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly result: SendResult;
}

export interface Judgement {
  readonly state: MessageState;
  readonly nextAttemptAtMs: number;
  /** Empty when accepted. */
  readonly error: string;
}

/** What is written with a change. */
export type Also = (trx: Transaction<OutboxTables>) => Promise<void>;

export interface Recorder {
  /** Reads, once, which targets are paused. */
  load(): Promise<void>;
  isPaused(organizationId: string, target: string): boolean;
  /** Decides the consequence of an attempt. A target that answered "gone" gets nothing more from now on, even before that is recorded. */
  judge(row: OutboxMessageRow, result: SendResult, waitMs: Channel['waitMs']): Judgement;
  /** Retries until it is written or the signal is aborted, because a message whose outcome is unknown would be sent again. */
  record(sent: readonly GatheredMessage[], attempt: Attempt, judgement: Judgement, signal: AbortSignal): Promise<void>;
  /** Ends the message without sending it. */
  cancel(id: string): Promise<void>;
  /** @param also runs in the same transaction */
  pause(organizationId: string, target: string, reason: string, also?: Also): Promise<void>;
  resume(organizationId: string, target: string, also?: Also): Promise<void>;
}

export function createRecorder(options: { db: Kysely<OutboxTables>; clock: Clock; log: Log }): Recorder {
  const { db, clock, log } = options;
  const paused = new Set<string>();
  let loaded = false;

  const write = (sent: readonly GatheredMessage[], attempt: Attempt, judgement: Judgement): Promise<void> =>
    db.transaction().execute(async (trx) => {
      const { result } = attempt;
      const nowMs = clock.now();
      for (const alike of Map.groupBy(sent, ({ attempts }) => attempts).values())
        for (const some of chunks(alike, rowsPerStatement)) await writeSome(trx, some, attempt, judgement, nowMs);
      const [first] = sent;
      if (first !== undefined && isGone(result))
        await pauseIn(trx, first.organization_id, first.target, judgement.error, nowMs);
    });

  return {
    async load() {
      if (loaded) return;
      const rows = await db.selectFrom('outbox_paused_targets').select(['organization_id', 'target']).execute();
      for (const row of rows) paused.add(targetKey(row.organization_id, row.target));
      loaded = true;
    },
    async cancel(id) {
      await db
        .updateTable('outbox_messages')
        .set({ state: 'cancelled', finished_at: clock.now(), authorization: null, sealed: null })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .execute();
    },
    isPaused: (organizationId, target) => paused.has(targetKey(organizationId, target)),
    judge(row, result, waitMs) {
      const now = clock.now();
      if (isGone(result)) paused.add(targetKey(row.organization_id, row.target));
      if (result.outcome === 'accepted') return { state: 'delivered', nextAttemptAtMs: now, error: '' };
      const { error } = result;
      if (result.outcome === 'rejected') return { state: 'failed', nextAttemptAtMs: now, error };
      const attempts = row.attempts + 1 - row.retried_attempts;
      const ageMs = now - (row.retried_at ?? row.created_at);
      const wait = waitMs({ attempts, ageMs, retryAfterMs: result.retryAfterMs });
      if (wait !== undefined) return { state: 'pending', nextAttemptAtMs: now + wait, error };
      return { state: 'failed', nextAttemptAtMs: now, error: `${error}; given up after ${attempts} attempts` };
    },
    async record(sent, attempt, judgement, signal) {
      for (let failures = 1; ; failures++) {
        try {
          await write(sent, attempt, judgement);
          break;
        } catch (caught) {
          log.error('an attempt could not be recorded; trying again', {
            messageId: sent[0]?.id,
            error: errorText(caught),
          });
          await clock.sleep(backoffMs(failures), signal);
        }
      }
      // Added again to match the table: the target may have been resumed before this pause was recorded.
      if (isGone(attempt.result)) for (const row of sent) paused.add(targetKey(row.organization_id, row.target));
    },
    async pause(organizationId, target, reason, also) {
      await db.transaction().execute(async (trx) => {
        await pauseIn(trx, organizationId, target, reason, clock.now());
        await also?.(trx);
      });
      paused.add(targetKey(organizationId, target));
    },
    async resume(organizationId, target, also) {
      await db.transaction().execute(async (trx) => {
        await also?.(trx);
        await trx
          .deleteFrom('outbox_paused_targets')
          .where('organization_id', '=', organizationId)
          .where('target', '=', target)
          .execute();
        await trx
          .updateTable('outbox_messages')
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

/** All have the same number of earlier attempts. */
async function writeSome(
  trx: Transaction<OutboxTables>,
  sent: readonly GatheredMessage[],
  { atMs, durationMs, result }: Attempt,
  { state, nextAttemptAtMs }: Judgement,
  nowMs: number,
): Promise<void> {
  const { outcome, code = null, response = null } = result;
  const error = outcome === 'accepted' ? null : result.error;
  const what = { at: atMs, duration_ms: durationMs, outcome, code, error, response };
  await trx
    .insertInto('outbox_attempts')
    .values(sent.map(({ id, attempts }) => ({ message_id: id, attempt: attempts + 1, ...what })))
    // The first try may have committed without its answer arriving.
    .onConflict((conflict) => conflict.columns(['message_id', 'attempt']).doNothing())
    .execute();
  const ids = sent.map(({ id }) => id);
  if (outcome === 'accepted' && result.diverted === undefined) await countSent(trx, ids, atMs);
  await trx
    .updateTable('outbox_messages')
    .set({
      attempts: (sent[0]?.attempts ?? 0) + 1,
      state,
      next_attempt_at: nextAttemptAtMs,
      ...(state !== 'pending' && { finished_at: nowMs, authorization: null, sealed: null }),
    })
    .where('id', 'in', ids)
    .execute();
}

async function pauseIn(
  trx: Transaction<OutboxTables>,
  organizationId: string,
  target: string,
  reason: string,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('outbox_paused_targets')
    .values({ organization_id: organizationId, target, paused_at: nowMs, reason })
    .onConflict((conflict) => conflict.columns(['organization_id', 'target']).doNothing())
    .execute();
  await trx
    .updateTable('outbox_messages')
    .set({ state: 'paused' })
    .where('organization_id', '=', organizationId)
    .where('target', '=', target)
    .where('state', '=', 'pending')
    .execute();
}

function isGone(result: SendResult): boolean {
  return result.outcome === 'rejected' && result.isTargetGone === true;
}

function targetKey(organizationId: string, target: string): string {
  return `${organizationId} ${target}`;
}
