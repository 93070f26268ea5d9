/** Runs the follower of the log, and lets those who ask wait until it has seen all that was acknowledged when they asked. */
import { type Clock, type Follower, follow, type Log, PlatformError } from '@platform/base';
import type { IngestLog } from '../ingest/log.ts';
import type { LogSteps } from './follow-log.ts';

export interface KeepUpOptions {
  readonly steps: LogSteps;
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'onCommit'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Longer than any pause but a fault's. */
const patienceMs = 5_000;

export class KeepUp implements AsyncDisposable {
  readonly #options: KeepUpOptions;
  readonly #waiting = new Set<{ readonly position: number; readonly resolve: () => void }>();
  #follower: Follower | null = null;
  #listening: Disposable | null = null;

  constructor(options: KeepUpOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { steps, ingestLog, clock, log } = this.#options;
    await steps.open();
    const step = async (): Promise<boolean> => {
      const more = await steps.step();
      for (const one of this.#waiting) if (one.position <= steps.position()) one.resolve();
      return more;
    };
    const follower = follow({ name: 'binary data', step, clock, log, idleMs: 250 });
    this.#follower = follower;
    this.#listening = ingestLog.onCommit(() => follower.wake());
  }

  /**
   * Resolves once everything acknowledged before the call can be found (I7): its position.
   *
   * @throws unavailable after 5 s: an error rather than a partial answer; the signal's reason
   */
  async caughtUp(signal: AbortSignal): Promise<number> {
    const { steps, ingestLog, clock } = this.#options;
    const position = ingestLog.lastPosition();
    if (steps.position() >= position) return position;
    const arrived = Promise.withResolvers<true>();
    const one = { position, resolve: () => arrived.resolve(true) };
    const stop = new AbortController();
    this.#waiting.add(one);
    try {
      const late = clock.sleep(patienceMs, AbortSignal.any([signal, stop.signal])).then(() => false);
      // What loses the race is not waited for.
      late.catch(() => {});
      if (await Promise.race([arrived.promise, late])) return position;
    } finally {
      this.#waiting.delete(one);
      stop.abort();
    }
    throw new PlatformError(
      'unavailable',
      `binary data: expected to have all uploads up to position ${position} within ${patienceMs / 1_000} s, found the list at ${steps.position()}; try again in a moment`,
    );
  }

  lag(): { readonly rows: number; readonly failures: number } {
    const { steps, ingestLog } = this.#options;
    const rows = Math.max(0, ingestLog.lastPosition() - steps.position());
    return { rows, failures: this.#follower?.failures ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening?.[Symbol.dispose]();
    await this.#follower?.[Symbol.asyncDispose]();
    if (this.#follower) await this.#options.steps.flush();
  }
}
