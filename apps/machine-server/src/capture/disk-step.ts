/**
 * A step that writes to the disk and is repeated until it succeeds.
 *
 * States: idle → running → idle, or waiting (after a failure, with growing delays, at most 30 s) → running.
 */
import { backoffMs, type Clock } from '@platform/base';

export interface DiskStepDeps {
  /** One attempt. A failure leaves everything as it was. */
  readonly step: () => Promise<void>;
  /** Whether the step must run again because there is new work since it began. */
  readonly hasMore: () => boolean;
  readonly failed: (caught: unknown, failures: number) => void;
  readonly recovered: (failures: number) => void;
  readonly clock: Clock;
}

export class DiskStep {
  readonly #deps: DiskStepDeps;
  #running: Promise<void> | undefined;
  #waiting: Disposable | undefined;
  #failures = 0;
  #isOver = false;

  constructor(deps: DiskStepDeps) {
    this.#deps = deps;
  }

  /** Consecutive failures; 0 when it works. */
  get failures(): number {
    return this.#failures;
  }

  /** The attempt in progress; never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Whether it waits after a failure. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Makes an attempt now, unless one is in progress; cuts short the wait after a failure. Returns the attempt. */
  run(): Promise<void> {
    this.#waiting?.[Symbol.dispose]();
    this.#waiting = undefined;
    this.#running ??= this.#attempt();
    return this.#running;
  }

  /** Stops automatic retries after a failure. */
  end(): void {
    this.#isOver = true;
  }

  async #attempt(): Promise<void> {
    const { step, failed, recovered } = this.#deps;
    try {
      await step();
      const failures = this.#failures;
      this.#failures = 0;
      if (failures > 0) recovered(failures);
    } catch (caught) {
      failed(caught, ++this.#failures);
    }
    // In the same turn as the end of the step: whoever asks from now on gets an attempt of their own.
    this.#running = undefined;
    if (this.#failures > 0) this.#tryLater();
    else if (this.#deps.hasMore()) void this.run();
  }

  #tryLater(): void {
    if (this.#isOver) return;
    this.#waiting = this.#deps.clock.after(backoffMs(this.#failures, { maxMs: 30_000 }), () => void this.run());
  }
}
