/** One attempt to build a resource: it ends by itself, or as soon as a later one takes its place. */
export class Attempt {
  readonly #stop = new AbortController();
  readonly #done = Promise.withResolvers<void>();

  /** @param run the work; what it brings after `signal` was aborted has no place any more. Never rejects. */
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
