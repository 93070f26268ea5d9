/** Messages for one stream: whoever has news pushes them, the handler of the stream sends them in their order. */
import type { PlatformError } from '@platform/base';

export class Feed<T> {
  readonly #waiting: T[] = [];
  readonly #over = new AbortController();
  #changed = Promise.withResolvers<void>();

  /** Aborts when no more messages are taken. */
  get ended(): AbortSignal {
    return this.#over.signal;
  }

  /** Messages that the peer has not taken yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** After the end, nothing happens. */
  push(message: T): void {
    if (this.#over.signal.aborted) return;
    this.#waiting.push(message);
    this.#changed.resolve();
  }

  /** What was pushed before is still sent. @param reason absent: a clean end */
  end(reason?: PlatformError): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(reason ?? cleanEnd);
    this.#changed.resolve();
  }

  /** For one reader. @throws the reason of the end */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) yield next;
      if (this.#over.signal.aborted) break;
      await this.#changed.promise;
      this.#changed = Promise.withResolvers();
    }
    if (this.#over.signal.reason !== cleanEnd) throw this.#over.signal.reason;
  }
}

const cleanEnd = Symbol('clean end');
