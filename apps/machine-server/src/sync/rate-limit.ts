/** Limits bytes per second over all uploads: each take waits for the bytes of earlier ones, not for its own. */
import type { Clock } from '@platform/base';

export class RateLimit {
  readonly #clock: Clock;
  #bytesPerSecond = 0;
  /** Monotonic ms from which the next bytes may be sent. */
  #freeAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param bytesPerSecond 0: no limit */
  configure(bytesPerSecond: number): void {
    if (bytesPerSecond === this.#bytesPerSecond) return;
    this.#bytesPerSecond = bytesPerSecond;
    this.#freeAt = 0;
  }

  /** Resolves when these bytes may be sent; rejects when the signal is aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === 0) return;
    const now = this.#clock.monotonic();
    const startMs = Math.max(now, this.#freeAt);
    this.#freeAt = startMs + (bytes / this.#bytesPerSecond) * 1_000;
    if (startMs > now) await this.#clock.sleep(startMs - now, signal);
  }
}
