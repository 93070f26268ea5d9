/**
 * Sends due items, a limited number at a time. Attempts outlive the pass that started them: a slow one occupies its place, but does not
 * delay the next pass.
 */
export interface LaneDeps<T> {
  /** The due items, best first. The next item is requested only when there is a place for it. */
  readonly list: () => AsyncIterable<T>;
  /** Must not reject. */
  readonly send: (item: T) => Promise<void>;
  /** The maximum number of simultaneous attempts. */
  readonly limit: () => number;
  /** Whether no attempt may start now; the pass then ends. */
  readonly isClosed: () => boolean;
}

export class SendQueue<T> {
  readonly #deps: LaneDeps<T>;
  readonly #running = new Set<Promise<void>>();
  #pass: Promise<void> | undefined;
  /** Called when an attempt has ended. Racing all attempts for each item would cost more with their number. */
  #freed: (() => void) | undefined;

  constructor(deps: LaneDeps<T>) {
    this.#deps = deps;
  }

  /** Resolves once everything due has been started; simultaneous callers share a pass. Rejects if the list cannot be read. */
  pass(): Promise<void> {
    this.#pass ??= this.#run().finally(() => {
      this.#pass = undefined;
    });
    return this.#pass;
  }

  /** Resolves once the current pass and all attempts have ended. Never rejects. */
  async settled(): Promise<void> {
    await this.#pass?.catch(() => {});
    await Promise.all(this.#running);
  }

  get underWay(): number {
    return this.#running.size;
  }

  async #run(): Promise<void> {
    const { list, send, isClosed } = this.#deps;
    await this.#place();
    if (isClosed()) return;
    for await (const item of list()) {
      if (isClosed()) return;
      const done: Promise<void> = send(item).finally(() => {
        this.#running.delete(done);
        this.#freed?.();
      });
      this.#running.add(done);
      await this.#place();
      if (isClosed()) return;
    }
  }

  /** Resolves once another attempt may start, unless none may. */
  async #place(): Promise<void> {
    const { limit, isClosed } = this.#deps;
    while (!isClosed() && this.#running.size >= limit()) await new Promise<void>((resolve) => (this.#freed = resolve));
  }
}
