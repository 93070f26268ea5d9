/** One attempt to build a resource: it ends by itself, or as soon as a later attempt replaces it. */
export class Attempt {
  readonly #stop = new AbortController();
  readonly #done = Promise.withResolvers<void>();

  /** @param run the work; its result is unwanted once `signal` is aborted. Never rejects. */
  start(run: (signal: AbortSignal) => Promise<void>): this {
    void run(this.#stop.signal).then(this.#done.resolve);
    return this;
  }

  /** Resolves when the attempt has ended or was superseded. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  supersede(): void {
    this.#stop.abort();
    this.#done.resolve();
  }
}
