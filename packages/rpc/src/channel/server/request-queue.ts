/** The messages of a request that its method has not taken yet. */
import { orAborted } from '../../core/until-aborted.ts';

export class RequestQueue {
  readonly #free: (bytes: number) => void;
  readonly #messages: Uint8Array[] = [];
  #isComplete = false;
  #wake = (): void => {};

  /** @param free called with the bytes of messages that were taken */
  constructor(free: (bytes: number) => void) {
    this.#free = free;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  add(message: Uint8Array): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** No more follow. */
  complete(): void {
    this.#isComplete = true;
    this.#wake();
  }

  /** Gives up what waits. @param partBytes of a message that is not complete */
  discard(partBytes: number): void {
    this.#isComplete = true;
    this.#free(this.#messages.splice(0).reduce((sum, { length }) => sum + length, partBytes));
  }

  /** Undefined: there are no more. @throws the reason of the signal */
  async next(signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (this.#messages.length === 0 && !this.#isComplete) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await orAborted(promise, signal);
    }
    signal.throwIfAborted();
    const message = this.#messages.shift();
    if (message !== undefined) this.#free(message.length);
    return message;
  }
}
