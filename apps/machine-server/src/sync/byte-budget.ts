/** Limits how many bytes are in memory at a time, in the order of requests; a request above the limit runs alone. */
export class ByteBudget {
  readonly #most: number;
  #taken = 0;
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves once there is room for `bytes`; disposing gives them back. */
  async take(bytes: number): Promise<Disposable> {
    if (this.#waiting.length > 0 || !this.#fits(bytes))
      await new Promise<void>((start) => this.#waiting.push({ bytes, start }));
    else this.#taken += bytes;
    return { [Symbol.dispose]: () => this.#give(bytes) };
  }

  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#most;
  }

  #give(bytes: number): void {
    this.#taken -= bytes;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#taken += next.bytes;
      next.start();
    }
  }
}
