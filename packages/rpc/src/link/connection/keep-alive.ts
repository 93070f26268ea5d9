/**
 * Finds out by PING frames whether the peer of a connection still answers.
 *
 * States: resting (nothing is watched) → watching (calls run) → asking (a PING is out) → watching or resting (the peer showed life) | over.
 * There is at most one PING at a time, and everyone who waits shares it. Only the answer to this PING, its time limit and the end of the
 * connection end the wait: whatever happens to calls meanwhile, `verify` settles.
 */
import type { Clock } from '@platform/base';

/** A connection that was silent for this long is asked: before the next call, and while calls run. */
export const silentMs = 15_000;
const answerMs = 5_000;
/** A PING waits behind what was sent before it and may still be under way, on a line of 32 kbit/s … */
const slowBytesPerMs = 4;
/** Fewer bytes do not make an answer late. */
export const fewBytes: number = answerMs * slowBytesPerMs;
/** … but no longer than this. */
const longestAnswerMs = 20_000;

export interface KeepAliveDeps {
  readonly clock: Clock;
  /** Silence before the next call asks, and, unless it has its own limit, while calls run. */
  readonly silentMs: number;
  /** Silence while calls run. Default: `silentMs`. */
  readonly callSilentMs?: number | undefined;
  /** Sends a PING; calls back once it is answered, but never if the connection ends. */
  readonly ping: (onAnswer: () => void) => void;
  /** Bytes sent over the connection so far. */
  readonly sentBytes: () => number;
  /** The answer is not there after 5 s. It may only wait behind what was sent. */
  readonly onLate?: () => void;
  /** The peer did not answer in time. */
  readonly onDead: () => void;
}

export class KeepAlive implements Disposable {
  readonly #deps: KeepAliveDeps;
  #heardMs: number;
  #isWatching = false;
  #isOver = false;
  #timer: Disposable | undefined;
  #receivedBytes = 0;
  #asked: Promise<boolean> | undefined;
  #settle: ((isAlive: boolean) => void) | undefined;

  constructor(deps: KeepAliveDeps) {
    this.#deps = deps;
    this.#heardMs = deps.clock.monotonic();
  }

  /**
   * The peer sent something. On the path of every answer, so it only takes notes.
   *
   * @param receivedBytes how many of the bytes that were sent it has received, as this shows
   */
  heard(receivedBytes = 0): void {
    this.#heardMs = this.#deps.clock.monotonic();
    if (receivedBytes > this.#receivedBytes) this.#receivedBytes = receivedBytes;
  }

  get isSilent(): boolean {
    return this.#deps.clock.monotonic() - this.#heardMs >= this.#deps.silentMs;
  }

  /** Asks after each silence, until `rest`. */
  watch(): void {
    if (this.#isWatching || this.#isOver) return;
    this.#isWatching = true;
    // The first call asks for nothing that an idle connection did not answer.
    this.#arm(this.#callSilentMs);
  }

  rest(): void {
    this.#isWatching = false;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  /** Resolves to whether the peer answers. */
  verify(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    this.#asked ??= this.#ask(0);
    return this.#asked;
  }

  /** The connection has ended. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.rest();
    this.#settle?.(false);
  }

  #arm(waitMs: number): void {
    this.#timer = this.#deps.clock.after(waitMs, () => {
      this.#timer = undefined;
      if (this.#leftMs <= 0) void this.verify();
      else this.#arm(this.#leftMs);
    });
  }

  /** Ms until the silence is long enough for a PING while calls run. */
  get #leftMs(): number {
    return this.#heardMs + this.#callSilentMs - this.#deps.clock.monotonic();
  }

  get #callSilentMs(): number {
    return this.#deps.callSilentMs ?? this.#deps.silentMs;
  }

  /** @param unansweredMs for how long an earlier PING has waited since the peer last sent something else */
  #ask(unansweredMs: number): Promise<boolean> {
    const { clock, ping, sentBytes, onLate, onDead } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const askedMs = clock.monotonic();
    const askedBytes = sentBytes();
    const underWayMs = (askedBytes - this.#receivedBytes) / slowBytesPerMs;
    const limitMs = Math.min(longestAnswerMs, Math.max(answerMs, underWayMs)) - unansweredMs;
    const lateMs = answerMs - unansweredMs;
    const isHeard = (): boolean => this.#heardMs > askedMs;
    const settle = (isAlive: boolean): void => {
      if (this.#settle !== settle) return;
      this.#settle = undefined;
      this.#asked = undefined;
      late?.[Symbol.dispose]();
      limit[Symbol.dispose]();
      resolve(isAlive);
      if (this.#isOver) return;
      if (!isAlive) onDead();
      else if (this.#isWatching && this.#timer === undefined) {
        // What arrived was no answer: it only postpones the end.
        if (this.#leftMs < 0) this.#asked = this.#ask(-this.#leftMs);
        else this.#arm(this.#leftMs);
      }
    };
    // An answer that arrived while this process was busy is read before the immediate. Anything else that arrived is a sign of life, too.
    const limit = clock.after(limitMs, () => setImmediate(() => settle(isHeard())));
    const late =
      limitMs > lateMs
        ? clock.after(lateMs, () => setImmediate(() => (isHeard() ? settle(true) : onLate?.())))
        : undefined;
    this.#settle = settle;
    ping(() => {
      this.heard(askedBytes);
      settle(true);
    });
    return promise;
  }
}
