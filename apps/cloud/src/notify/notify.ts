/**
 * Notifications leave from here: an outbox that is filled inside its callers' transactions, and a loop that delivers
 * what is due, at least once, and records every attempt (D23).
 */
import type { Clock, Log } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { Message } from './event.ts';
import type { MessageState, NotifyAttemptRow, NotifyTables } from './store.ts';

/** One line of a machine's logs, as the cloud writes it. */
export interface MachineLogLine {
  readonly level: 'error';
  readonly loggerName: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface NotifyOptions {
  readonly db: Kysely<NotifyTables>;
  readonly clock: Clock;
  readonly log: Log;
  /** `whsec_` and base64, the key that signs the organization's webhooks. */
  readonly signingSecret: (organizationId: string) => Promise<string>;
  /** Where our own catcher listens, exactly as URLs to it are written: the only loopback target, below /catcher/. */
  readonly ownAddress: () => { readonly host: string; readonly port: number } | undefined;
  /** Whether webhooks may go to private ranges. */
  readonly privateTargetsAllowed: () => boolean;
  /** What to set to allow them, for the error message. Default `PLATFORM_ALLOW_PRIVATE_WEBHOOKS`. */
  readonly privateTargetsSetting?: string;
  readonly appendMachineLog: (partId: string, line: MachineLogLine) => Promise<void>;
  /** Version of the platform, for User-Agent. */
  readonly version: string;
}

/** A message without its secrets. */
export interface ListedMessage {
  readonly id: string;
  readonly partId: string;
  readonly organizationId: string;
  readonly target: string;
  readonly triggerName: string;
  readonly triggerType: string;
  readonly state: MessageState;
  readonly attempts: readonly NotifyAttemptRow[];
  readonly eventAtMs: number;
  readonly createdAtMs: number;
  readonly nextAttemptAtMs: number;
}

export interface Notify extends AsyncDisposable {
  /** Begins delivering. What was being sent when the process was killed is sent again under the same id. */
  start(): void;
  /** Adds messages inside the caller's transaction; one that is there already is left as it is. Call wake() after the commit. */
  enqueue(trx: Transaction<NotifyTables>, messages: readonly Message[]): Promise<void>;
  /** There may be messages due. */
  wake(): void;
  /** The newest messages first. */
  list(filter?: { readonly partId?: string; readonly limit?: number }): Promise<ListedMessage[]>;
  /** Targets that answered 410 Gone, and get nothing until resumed. */
  pausedTargets(organizationId: string): Promise<{ target: string; pausedAtMs: number; reason: string }[]>;
  /** Delivers to the target again, what is waiting for it first. */
  resume(organizationId: string, target: string): Promise<void>;
}

export type CreateNotify = (options: NotifyOptions) => Notify;
