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
/** A PING waits behind what was sent before it, which takes a slow line longer … */
const answerDuringUploadMs = 20_000;
/** … if at least this many bytes were sent during the silence. Less than the smallest usual flow-control window. */
const uploadBytes = 32 * 1024;

export interface KeepAliveDeps {
  readonly clock: Clock;
  readonly silentMs: number;
  /** Sends a PING; calls back once it is answered, but never if the connection ends. */
  readonly ping: (onAnswer: () => void) => void;
  /** Bytes sent over the connection so far. */
  readonly sentBytes: () => number;
  /** The peer did not answer in time. */
  readonly onDead: () => void;
}

export class KeepAlive implements Disposable {
  readonly #deps: KeepAliveDeps;
  #heardMs: number;
  #isWatching = false;
  #isOver = false;
  #timer: Disposable | undefined;
  #sentBytes = 0;
  #asked: Promise<boolean> | undefined;
  #settle: ((isAlive: boolean) => void) | undefined;

  constructor(deps: KeepAliveDeps) {
    this.#deps = deps;
    this.#heardMs = deps.clock.monotonic();
  }

  /** The peer sent something. On the path of every answer, so it only notes the time. */
  heard(): void {
    this.#heardMs = this.#deps.clock.monotonic();
  }

  get isSilent(): boolean {
    return this.#deps.clock.monotonic() - this.#heardMs >= this.#deps.silentMs;
  }

  /** Asks after each silence, until `rest`. */
  watch(): void {
    if (this.#isWatching || this.#isOver) return;
    this.#isWatching = true;
    // The first call asks for nothing that an idle connection did not answer.
    this.#arm(this.#deps.silentMs);
  }

  rest(): void {
    this.#isWatching = false;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  /** Resolves to whether the peer answers. */
  verify(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  /** The connection has ended. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.rest();
    this.#settle?.(false);
  }

  #arm(waitMs: number): void {
    this.#sentBytes = this.#deps.sentBytes();
    this.#timer = this.#deps.clock.after(waitMs, () => {
      this.#timer = undefined;
      if (this.isSilent) void this.verify();
      else this.#arm(this.#heardMs + this.#deps.silentMs - this.#deps.clock.monotonic());
    });
  }

  #ask(): Promise<boolean> {
    const { clock, ping, sentBytes, onDead } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const askedMs = clock.monotonic();
    const isUploading = this.#timer === undefined && sentBytes() - this.#sentBytes >= uploadBytes;
    const settle = (isAlive: boolean): void => {
      if (this.#settle !== settle) return;
      this.#settle = undefined;
      this.#asked = undefined;
      limit[Symbol.dispose]();
      if (isAlive) this.heard();
      resolve(isAlive);
      if (this.#isOver) return;
      if (!isAlive) onDead();
      else if (this.#isWatching && this.#timer === undefined) this.#arm(this.#deps.silentMs);
    };
    // An answer that arrived while this process was busy is read before the immediate. Anything else that arrived is a sign of life, too.
    const limit = clock.after(isUploading ? answerDuringUploadMs : answerMs, () =>
      setImmediate(() => settle(this.#heardMs > askedMs)),
    );
    this.#settle = settle;
    ping(() => settle(true));
    return promise;
  }
}
