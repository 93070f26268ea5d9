/** Records an attempt: the attempt itself, the message's next state, and targets that accept nothing more. */
import { backoffMs, type Clock, chunks, errorText, type Log } from '@platform/base';
import type { Channel, GatheredMessage, SendResult } from './channel.ts';
import { coalesce } from './coalesce.ts';
import { countSent, sentHour } from './count-sent.ts';
import type { MessageState, OutboxDatabase, OutboxTransaction } from './store.ts';
import { recordOutcomes } from './target-states.ts';

const rowsPerStatement = 500;

export interface Attempt {
  /** Start of the attempt, wall-clock ms. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly result: SendResult;
}

export interface Judgement {
  readonly state: MessageState;
  readonly nextAttemptAtMs: number;
  /** Empty: it was delivered. */
  readonly error: string;
}

/** Further writes in the same transaction as a change. */
export type ExtraWrites = (trx: OutboxTransaction) => Promise<void>;

export interface Recorder {
  /** Reads once which targets are paused. */
  load(): Promise<void>;
  isPaused(organizationId: string, target: string): boolean;
  /** Decides the consequence of an attempt. A target that answered "gone" gets nothing more from then on, even before that is recorded. */
  judge(row: GatheredMessage, result: SendResult, waitMs: Channel['waitMs']): Judgement;
  /** Retries until the attempt is written or the signal is aborted, because a message whose outcome is unknown would be sent again. */
  record(sent: readonly GatheredMessage[], attempt: Attempt, judgement: Judgement, signal: AbortSignal): Promise<void>;
  /** Ends the message without sending it. */
  cancel(id: string): Promise<void>;
  /** @param also runs in the same transaction */
  pause(organizationId: string, target: string, reason: string, also?: ExtraWrites): Promise<void>;
  resume(organizationId: string, target: string, also?: ExtraWrites): Promise<void>;
}

export function createRecorder(options: { db: OutboxDatabase; clock: Clock; log: Log }): Recorder {
  const { db, clock, log } = options;
  const paused = new Set<string>();
  let loaded = false;

  const write = (all: readonly Recorded[]): Promise<void> =>
    db.transaction().execute((trx) => writeAttempts(trx, all, clock.now()));
  const writeTogether = coalesce(write);

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
        .set({ state: 'cancelled', finished_at: clock.now(), sealed: null })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .execute();
    },
    isPaused: (organizationId, target) => paused.has(targetKey(organizationId, target)),
    judge(row, result, waitMs) {
      const now = clock.now();
      if (isGone(result)) paused.add(targetKey(row.organization_id, row.target));
      if (result.outcome === 'accepted')
        return result.kept === undefined
          ? { state: 'delivered', nextAttemptAtMs: now, error: '' }
          : { state: 'kept', nextAttemptAtMs: now, error: result.kept };
      const { error } = result;
      if (result.outcome === 'rejected') return { state: 'failed', nextAttemptAtMs: now, error };
      const attempts = row.attempts + 1 - row.retried_attempts;
      const ageMs = now - (row.retried_at ?? row.created_at);
      const wait = waitMs({ attempts, ageMs, retryAfterMs: result.retryAfterMs });
      if (wait !== undefined) return { state: 'pending', nextAttemptAtMs: now + wait, error };
      return { state: 'failed', nextAttemptAtMs: now, error: `${error}; given up after ${attempts} attempts` };
    },
    async record(sent, attempt, judgement, signal) {
      for (let failures = 0; ; failures++) {
        try {
          // An attempt that cannot be written must not hold up the others.
          await (failures === 0 ? writeTogether({ sent, attempt, judgement }) : write([{ sent, attempt, judgement }]));
          break;
        } catch (caught) {
          log.error('an attempt could not be recorded; trying again', {
            messageId: sent[0]?.id,
            error: errorText(caught),
          });
          await clock.sleep(backoffMs(failures + 1), signal);
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
          .set({ state: 'pending', next_attempt_at: clock.now(), held: 0 })
          .where('organization_id', '=', organizationId)
          .where('target', '=', target)
          .where('state', '=', 'paused')
          .execute();
      });
      paused.delete(targetKey(organizationId, target));
    },
  };
}

interface Recorded {
  readonly sent: readonly GatheredMessage[];
  readonly attempt: Attempt;
  readonly judgement: Judgement;
}

async function writeAttempts(trx: OutboxTransaction, all: readonly Recorded[], nowMs: number): Promise<void> {
  const rows = all.flatMap(({ sent, attempt: { atMs, durationMs, result } }) => {
    const { outcome, code = null, response = null } = result;
    const error = outcome === 'accepted' ? null : result.error;
    const isKept = result.outcome === 'accepted' && result.kept !== undefined;
    const what = {
      at: atMs,
      duration_ms: durationMs,
      outcome: isKept ? 'kept' : outcome,
      code,
      error,
      response,
    } as const;
    return sent.map(({ id, attempts }) => ({ message_id: id, attempt: attempts + 1, ...what }));
  });
  for (const some of chunks(rows, rowsPerStatement))
    await trx
      .insertInto('outbox_attempts')
      .values(some)
      // The first try may have committed without its answer arriving.
      .onConflict((conflict) => conflict.columns(['message_id', 'attempt']).doNothing())
      .execute();
  const accepted = all.filter(({ judgement }) => judgement.state === 'delivered');
  for (const [hour, alike] of Map.groupBy(accepted, ({ attempt }) => sentHour(attempt.atMs)))
    for (const ids of chunks(idsOf(alike), rowsPerStatement)) await countSent(trx, ids, hour);
  for (const alike of Map.groupBy(all.flatMap(changesOf), ({ key }) => key).values())
    for (const some of chunks(alike, rowsPerStatement)) await writeState(trx, some, nowMs);
  await recordOutcomes(
    trx,
    all.flatMap(({ sent, attempt: { atMs, result }, judgement: { state, error: reason } }) =>
      sent.map((message) => ({ message, state, isRejected: result.outcome === 'rejected', atMs, reason })),
    ),
  );
  for (const { sent, attempt, judgement } of all) {
    const [first] = sent;
    if (first !== undefined && isGone(attempt.result))
      await pauseIn(trx, first.organization_id, first.target, judgement.error, nowMs);
  }
}

interface Change extends Pick<Judgement, 'state' | 'nextAttemptAtMs'> {
  readonly id: string;
  /** Earlier attempts. */
  readonly attempts: number;
  /** Whether its next attempt may be together with others (`digest`). */
  readonly dissolves: boolean;
  /** Changes with the same key are written by one statement. */
  readonly key: string;
}

function changesOf({ sent, attempt: { result }, judgement: { state, nextAttemptAtMs } }: Recorded): Change[] {
  const dissolves = result.outcome === 'retryLater' && result.mayBeTaken !== true;
  // The next attempt time of a finished message has no meaning.
  const key = state === 'pending' ? `${state} ${nextAttemptAtMs} ${dissolves}` : state;
  return sent.map(({ id, attempts }) => ({
    id,
    attempts,
    state,
    nextAttemptAtMs,
    dissolves,
    key: `${attempts} ${key}`,
  }));
}

async function writeState(trx: OutboxTransaction, alike: readonly Change[], nowMs: number): Promise<void> {
  const [first] = alike;
  if (first === undefined) return;
  const { attempts, state, nextAttemptAtMs, dissolves } = first;
  const ids = alike.map(({ id }) => id);
  await trx
    .updateTable('outbox_messages')
    .set({
      attempts: attempts + 1,
      state,
      next_attempt_at: nextAttemptAtMs,
      held: 0,
      ...(dissolves && { digest: null }),
      ...(state !== 'pending' && { finished_at: nowMs, sealed: null }),
    })
    .where('id', 'in', ids)
    .execute();
}

function idsOf(all: readonly Recorded[]): string[] {
  return all.flatMap(({ sent }) => sent.map(({ id }) => id));
}

async function pauseIn(
  trx: OutboxTransaction,
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
