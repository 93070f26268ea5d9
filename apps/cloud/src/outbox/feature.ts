/**
 * Whatever leaves for people and other systems leaves from here: an outbox that is filled inside its callers' transactions, one
 * loop that delivers what is due over the channel of each message, at least once, and one record of every attempt (D23).
 */
import type { Follower } from '@platform/base';
import { follow } from '@platform/base';
import type { Transaction } from 'kysely';
import { countMessages, type MessageCounts } from './count-messages.ts';
import { Delivery, type OutboxDeps } from './deliver.ts';
import { enqueue } from './enqueue.ts';
import type { Message } from './event.ts';
import { type ListedMessage, type ListFilter, listMessages } from './list-messages.ts';
import { pruneMessages } from './prune-messages.ts';
import type { ChannelName, OutboxTables } from './store.ts';

export interface Outbox extends AsyncDisposable {
  /** Begins delivering. What was being sent when the process was killed is sent again under the same id. */
  start(): void;
  /** Adds messages inside the caller's transaction; those that are there already stay as they are. Call wake() after the commit. */
  enqueue(trx: Transaction<OutboxTables>, messages: readonly Message[]): Promise<void>;
  /** There may be messages due. */
  wake(): void;
  /** The newest first, without secrets and without their contents. */
  list(filter?: ListFilter): Promise<ListedMessage[]>;
  /** What became of the messages of a channel in the last 30 days, and how many wait. */
  counts(channel: ChannelName): Promise<MessageCounts>;
  /** Delivers again to a target that answered 410, what is waiting for it first. */
  resume(organizationId: string, target: string): Promise<void>;
}

/** Disposes the channels, too. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { db, instanceKey, clock, log, channels } = deps;
  const delivery = new Delivery(deps);
  let pruning: Follower | undefined;
  return {
    start() {
      delivery.start();
      pruning = follow({
        name: 'outbox: prune',
        step: () => pruneMessages(db, clock.now()),
        clock,
        log,
        idleMs: 3_600_000,
      });
    },
    enqueue: (trx, messages) => enqueue(trx, messages, clock.now(), instanceKey),
    wake: () => delivery.wake(),
    list: (filter = {}) => listMessages(db, filter),
    counts: (channel) => countMessages(db, channel),
    resume: (organizationId, target) => delivery.resume(organizationId, target),
    async [Symbol.asyncDispose]() {
      await pruning?.[Symbol.asyncDispose]();
      await delivery[Symbol.asyncDispose]();
      for (const channel of Object.values(channels)) channel[Symbol.dispose]();
    },
  };
}
