/**
 * Sends all messages to people and other systems. Callers enqueue messages within their transactions. One loop delivers due messages over
 * their channels, at least once, and every attempt is recorded (D23).
 */
import { type Follower, follow } from '@platform/base';
import { countMessages, type MessageCounts } from './count-messages.ts';
import { Delivery, type Obstacle, type Obstructed, type OutboxDeps } from './deliver.ts';
import { pruneMailRates } from './email/gather-mails.ts';
import { type EnqueueDeps, enqueue } from './enqueue.ts';
import type { Message } from './event.ts';
import { type ListedMessage, type ListFilter, listMessages } from './list-messages.ts';
import { pruneMessages } from './prune-messages.ts';
import type { ExtraWrites } from './record-attempt.ts';
import type { ChannelName, OutboxTransaction } from './store.ts';
import { pruneTargets } from './target-states.ts';

export interface Outbox extends AsyncDisposable {
  /** Starts delivery. Messages that were being sent when the process was killed are sent again with the same id. */
  start(): void;
  /**
   * Adds messages within the caller's transaction; existing ones do not change. Call wake() after the commit. Returns their ids:
   * `all_machine_owners` becomes one message per owner.
   */
  enqueue(trx: OutboxTransaction, messages: readonly Message[]): Promise<readonly string[]>;
  /** Notifies the loop that messages may be due. */
  wake(): void;
  /** Resolves when each of the messages has been tried, or can no longer be. Rejects when the signal is aborted. */
  tried(ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Why a pending message is not being sent at this moment; undefined: it is sent when it is due. */
  obstacleOf(message: Obstructed): Obstacle | undefined;
  /** Newest first, without secrets and contents. */
  list(filter?: ListFilter): Promise<ListedMessage[]>;
  /** Number of a channel's messages in the last 30 days by state, including waiting ones. */
  counts(channel: ChannelName): Promise<MessageCounts>;
  /**
   * Delivers nothing more to a target of an organization until it is resumed; messages to it wait. Deliveries in progress are not stopped.
   *
   * @param reason for people
   * @param also runs in the same transaction
   */
  pause(organizationId: string, target: string, reason: string, also?: ExtraWrites): Promise<void>;
  /** Resumes delivery to a target that was paused or answered 410, waiting messages first. */
  resume(organizationId: string, target: string, also?: ExtraWrites): Promise<void>;
}

/** Disposing it also disposes the channels. */
export function createOutbox(deps: OutboxDeps & EnqueueDeps): Outbox {
  const { db, clock, log, channels } = deps;
  const delivery = new Delivery(deps);
  let pruning: Follower | undefined;
  return {
    start() {
      delivery.start();
      pruning = follow({
        name: 'outbox: prune',
        async step() {
          await pruneMailRates(db, clock.now());
          await pruneTargets(db, clock.now());
          return await pruneMessages(db, clock.now());
        },
        clock,
        log,
        idleMs: 3_600_000,
      });
    },
    enqueue: (trx, messages) => enqueue(trx, messages, clock.now(), deps),
    wake: () => delivery.wake(),
    tried: (ids, signal) => delivery.tried(ids, signal),
    obstacleOf: (message) => delivery.obstacleOf(message),
    list: (filter = {}) => listMessages(db, filter),
    counts: (channel) => countMessages(db, channel),
    pause: (organizationId, target, reason, also) => delivery.pause(organizationId, target, reason, also),
    resume: (organizationId, target, also) => delivery.resume(organizationId, target, also),
    async [Symbol.asyncDispose]() {
      await pruning?.[Symbol.asyncDispose]();
      await delivery[Symbol.asyncDispose]();
      for (const channel of Object.values(channels)) channel[Symbol.dispose]();
    },
  };
}
