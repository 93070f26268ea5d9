/**
 * The time by which the silence of parts is measured: monotonic, without the time in which this process did not run (D17).
 *
 * A pause is more than 5 s in which nothing asked for the time although something does so every second: the process was stopped,
 * suspended or starved, or one request held its loop. It is left out, so each window is longer by it. A pause of 20 s or more also
 * breaks connections: after it each part has a full window to return. A full window after each shorter one would let slow requests
 * postpone every alert for ever.
 *
 * On a suspended computer only the wall clock advances; for a stopped process both clocks do. So both are watched.
 */
import type { Clock } from '@platform/base';

/** Far above the delays of a busy process, far below the window. */
const pauseMs = 5_000;
/** A peer gives up a connection after 20 s: it sends PING after 15 s and waits 5 s for the answer. */
const breakMs = 20_000;

export interface Pause {
  readonly elapsedMs: number;
  readonly brokeConnections: boolean;
}

export class CountedTime {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #onPause: (pause: Pause) => void;
  #beat: { readonly monotonicMs: number; readonly wallMs: number };
  #leftOutMs = 0;
  #listeningSinceMs: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, onPause: (pause: Pause) => void) {
    this.#clock = clock;
    this.#onPause = onPause;
    this.#beat = { monotonicMs: clock.monotonic(), wallMs: clock.now() };
    this.#listeningSinceMs = this.#beat.monotonicMs;
  }

  /** Each part has a full window from now on. */
  start(): void {
    this.#beat = { monotonicMs: this.#clock.monotonic(), wallMs: this.#clock.now() };
    this.#listeningSinceMs = this.#beat.monotonicMs - this.#leftOutMs;
  }

  /** Must be called at least every second, for it also notices pauses. */
  now(): number {
    const before = this.#beat;
    this.#beat = { monotonicMs: this.#clock.monotonic(), wallMs: this.#clock.now() };
    const ranMs = this.#beat.monotonicMs - before.monotonicMs;
    const elapsedMs = Math.max(ranMs, this.#beat.wallMs - before.wallMs);
    if (elapsedMs > pauseMs) this.#leaveOut(ranMs, elapsedMs);
    return this.#beat.monotonicMs - this.#leftOutMs;
  }

  /** When the cloud began to listen, or the last pause that broke connections ended, in the time of `now`: no part is silent for longer. */
  get listeningSinceMs(): number {
    return this.#listeningSinceMs;
  }

  #leaveOut(ranMs: number, elapsedMs: number): void {
    this.#leftOutMs += ranMs;
    const brokeConnections = elapsedMs >= breakMs;
    if (brokeConnections) this.#listeningSinceMs = this.#beat.monotonicMs - this.#leftOutMs;
    this.#onPause({ elapsedMs, brokeConnections });
  }
}
