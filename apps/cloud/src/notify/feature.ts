/**
 * Notifications leave from here: an outbox that is filled inside its callers' transactions, and a loop that delivers
 * what is due, at least once, and records every attempt (D23).
 */
import { lookup } from 'node:dns/promises';
import type { Clock, Follower, Log } from '@platform/base';
import { follow } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import { countMessages, type MessageCounts } from './count-messages.ts';
import { createDelivery, type Delivery } from './deliver.ts';
import { enqueue } from './enqueue.ts';
import type { Message } from './event.ts';
import type { MachineLogLine } from './failure-line.ts';
import { type ListedMessage, type ListFilter, listMessages } from './list-messages.ts';
import { pruneMessages } from './prune-messages.ts';
import { createWebhookSender, type WebhookSender } from './send-webhook.ts';
import type { NotifyTables } from './store.ts';
import type { Resolve } from './target-guard.ts';

export interface NotifyOptions {
  readonly db: Kysely<NotifyTables>;
  readonly clock: Clock;
  readonly log: Log;
  /** `whsec_` and base64: the key that signs the organization's webhooks. Undefined: it was deleted, what waits is cancelled. */
  readonly signingSecret: (organizationId: string) => Promise<string | undefined>;
  /** Where our own catcher listens, exactly as URLs to it are written: the only loopback target, below /catcher/. */
  readonly ownAddress: () => { readonly host: string; readonly port: number } | undefined;
  /** PEM of the authority under which our own catcher is served, where there is one. */
  readonly ownAuthority?: () => string | undefined;
  /** Whether webhooks may go to private ranges. */
  readonly privateTargetsAllowed: () => boolean;
  /** Name of the setting that allows them, for the error message. */
  readonly privateTargetsSetting: string;
  readonly appendMachineLog: (partId: string, line: MachineLogLine) => Promise<void>;
  /** Version of the platform, for User-Agent. */
  readonly version: string;
  /** Names to addresses. Default: the operating system's resolver, hosts file included. */
  readonly resolve?: Resolve;
}

export interface Notify extends AsyncDisposable {
  /** Begins delivering. What was being sent when the process was killed is sent again under the same id. */
  start(): void;
  /** Adds messages inside the caller's transaction; those that are there already stay as they are. Call wake() after the commit. */
  enqueue(trx: Transaction<NotifyTables>, messages: readonly Message[]): Promise<void>;
  /** There may be messages due. */
  wake(): void;
  /** The newest first, without secrets. */
  list(filter?: ListFilter): Promise<ListedMessage[]>;
  /** How many messages of the last 30 days were delivered, and how many wait. */
  counts(): Promise<MessageCounts>;
  /** Delivers again to a target that answered 410, what is waiting for it first. */
  resume(organizationId: string, target: string): Promise<void>;
}

export function createNotify(options: NotifyOptions): Notify {
  return new OutboxNotify(options);
}

class OutboxNotify implements Notify {
  readonly #options: NotifyOptions;
  readonly #sender: WebhookSender;
  readonly #delivery: Delivery;
  #pruning: Follower | null = null;

  constructor(options: NotifyOptions) {
    const { clock, ownAddress, privateTargetsAllowed, privateTargetsSetting, resolve = systemResolve } = options;
    this.#options = options;
    this.#sender = createWebhookSender({
      clock,
      ...(options.ownAuthority && { ownAuthority: options.ownAuthority }),
      policy: { ownAddress, privateTargetsAllowed, privateTargetsSetting, resolve },
    });
    this.#delivery = createDelivery({ ...options, send: this.#sender.send });
  }

  start(): void {
    const { db, clock, log } = this.#options;
    this.#delivery.start();
    this.#pruning = follow({
      name: 'notifications: prune',
      step: () => pruneMessages(db, clock.now()),
      clock,
      log,
      idleMs: 3_600_000,
    });
  }

  enqueue(trx: Transaction<NotifyTables>, messages: readonly Message[]): Promise<void> {
    return enqueue(trx, messages, this.#options.clock.now());
  }

  wake(): void {
    this.#delivery.wake();
  }

  list(filter: ListFilter = {}): Promise<ListedMessage[]> {
    return listMessages(this.#options.db, filter);
  }

  counts(): Promise<MessageCounts> {
    return countMessages(this.#options.db);
  }

  resume(organizationId: string, target: string): Promise<void> {
    return this.#delivery.resume(organizationId, target);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pruning?.[Symbol.asyncDispose]();
    await this.#delivery[Symbol.asyncDispose]();
    this.#sender[Symbol.dispose]();
  }
}

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });
