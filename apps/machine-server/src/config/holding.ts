/** Keeps a configuration that waits for the maintenance window (D9): since when, why, and whether an owner forces it. */
import type { Clock, Log } from '@platform/base';

/** A newer configuration that waits for the maintenance window. */
export interface Held {
  readonly revision: string;
  readonly reason: string;
  /** When this revision began to wait: wall clock ms. */
  readonly sinceMs: number;
}

/** How often the log repeats that a configuration waits (D9). */
const remindEveryMs = 86_400_000;

export class Holding {
  readonly #clock: Clock;
  readonly #log: Log;
  #held: Held | undefined;
  #forced = '';
  /** Monotonic ms at which the log last said that the held configuration waits. */
  #remindedMs = 0;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  get held(): Held | undefined {
    return this.#held;
  }

  /** An owner forces this revision regardless of the window, but not later ones. */
  force(revision: string): void {
    if (revision !== this.#forced && revision !== '')
      this.#log.info('an owner forces the pending configuration', { revision });
    this.#forced = revision;
  }

  /** Whether an owner forces this newest revision. */
  isForced(revision: string): boolean {
    if (revision !== this.#forced) this.#forced = '';
    return this.#forced !== '';
  }

  hold(revision: string, reason: string): void {
    const before = this.#held?.revision === revision ? this.#held : undefined;
    this.#held = { revision, reason, sinceMs: before?.sinceMs ?? this.#clock.now() };
    if (before === undefined) {
      this.#remindedMs = this.#clock.monotonic();
      this.#log.info(`new configuration waits for its maintenance window: ${reason}`, { revision });
    } else if (this.#clock.monotonic() - this.#remindedMs >= remindEveryMs) {
      this.#remindedMs = this.#clock.monotonic();
      const since = new Date(this.#held.sinceMs).toISOString();
      this.#log.warn(`the new configuration still waits for its maintenance window: ${reason}`, { revision, since });
    }
  }

  /** Nothing is waiting any longer. */
  release(): void {
    this.#held = undefined;
  }

  /** For the log, when this revision is applied: how long it waited. */
  waited(revision: string): { readonly waitedMs?: number } {
    return this.#held?.revision === revision ? { waitedMs: this.#clock.now() - this.#held.sinceMs } : {};
  }
}
