/**
 * Triggers: reads every acknowledged upload after its commit and enqueues the notifications that the part's
 * configuration asks for. Knows no HTTP; the outbox is the seam.
 */
import type { Clock, Log } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { Message } from '../notify/event.ts';
import type { NotifyTables } from '../notify/store.ts';
import type { TriggersTables } from './store.ts';

export interface TriggersOptions {
  readonly db: Kysely<TriggersTables & NotifyTables>;
  /** What of the ingest log a follower needs. */
  readonly ingestLog: FollowedLog;
  /** The part's effective configuration; undefined: no such part. Asked once a step and part, so let it be cheap. */
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly notify: {
    enqueue(trx: Transaction<NotifyTables>, messages: readonly Message[]): Promise<void>;
    wake(): void;
  };
  readonly clock: Clock;
  readonly log: Log;
}

export interface FollowedLog {
  /** Committed rows after `after`, in order, a prefix. */
  read(
    after: number,
    limit: { rows: number; bytes: number },
  ): readonly { position: number; partId: string; batch: Uint8Array }[];
  lastPosition(): number;
  onCommit(listener: (position: number) => void): Disposable;
}

export interface PartTriggers {
  /** The `triggers` array as configured. */
  readonly triggers: readonly unknown[];
  /** Names of the configured components and services. */
  readonly components: readonly string[];
  /** Changes whenever the above do. */
  readonly revision: string;
}

export interface Triggers extends AsyncDisposable {
  start(): Promise<void>;
  /** All rows of the log up to here are decided, durably: the log may be truncated up to here (I12). */
  cursor(): Promise<number>;
  /**
   * Call inside the transaction that saves a part's configuration: a trigger that is new, or enabled again, is for
   * uploads after this moment only (I11).
   */
  configurationSaved(trx: Transaction<TriggersTables>, partId: string, triggers: readonly unknown[]): Promise<void>;
}

export type CreateTriggers = (options: TriggersOptions) => Triggers;
