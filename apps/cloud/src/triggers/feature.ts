/**
 * Triggers: reads every acknowledged upload after its commit and enqueues the notifications that the part's
 * configuration asks for. Knows no HTTP; the outbox is the seam.
 */
import { type Follower, follow } from '@platform/base';
import type { Transaction } from 'kysely';
import { configurationSaved } from './configuration-saved.ts';
import { createLogFollower, type LogFollower, type LogFollowerOptions } from './follow-log.ts';
import { readCursor } from './state.ts';
import type { TriggersTables } from './store.ts';

export type TriggersOptions = LogFollowerOptions;

export interface Triggers extends AsyncDisposable {
  start(): Promise<void>;
  /** All rows of the log up to here are decided, durably: it may be truncated up to here (I12). */
  cursor(): Promise<number>;
  /**
   * Call inside the transaction that saves a part's configuration: a trigger that is new, or enabled again, is for
   * uploads after this moment only (I11).
   */
  configurationSaved(trx: Transaction<TriggersTables>, partId: string, triggers: unknown): Promise<void>;
  /** Rows that wait to be decided, and failures in a row: a stuck follower is an alarm, never skipped (I12). */
  lag(): { readonly rows: number; readonly failures: number };
}

export function createTriggers(options: TriggersOptions): Triggers {
  return new LogTriggers(options);
}

class LogTriggers implements Triggers {
  readonly #options: TriggersOptions;
  readonly #steps: LogFollower;
  #follower: Follower | null = null;
  #listening: Disposable | null = null;

  constructor(options: TriggersOptions) {
    this.#options = options;
    this.#steps = createLogFollower(options);
  }

  async start(): Promise<void> {
    const { clock, log, ingestLog } = this.#options;
    await this.#steps.open();
    const follower = follow({ name: 'triggers', step: () => this.#steps.step(), clock, log, idleMs: 250 });
    this.#follower = follower;
    this.#listening = ingestLog.onCommit(() => follower.wake());
  }

  async cursor(): Promise<number> {
    return (await readCursor(this.#options.db)) ?? 0;
  }

  configurationSaved(trx: Transaction<TriggersTables>, partId: string, triggers: unknown): Promise<void> {
    return configurationSaved(trx, partId, triggers, this.#options.ingestLog.lastPosition());
  }

  lag(): { readonly rows: number; readonly failures: number } {
    const rows = Math.max(0, this.#options.ingestLog.lastPosition() - this.#steps.position());
    return { rows, failures: this.#follower?.failures ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening?.[Symbol.dispose]();
    await this.#follower?.[Symbol.asyncDispose]();
    if (this.#follower) await this.#steps.flush();
  }
}
