/**
 * Lets a few attempts begin in each turn of the event loop, in the order in which they ask. A configuration may change thousands of resources;
 * everything else that waits, such as a stop, comes in between (D48).
 */
const mostInTurn = 8;

export class Starts {
  readonly #waiting: (() => void)[] = [];
  #begun = 0;
  #isScheduled = false;

  /** Resolves when the caller may begin. */
  async next(): Promise<void> {
    this.#schedule();
    if (this.#begun < mostInTurn) this.#begun++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const now = this.#waiting.splice(0, mostInTurn);
      this.#begun = now.length;
      for (const begin of now) begin();
      if (now.length > 0) this.#schedule();
    });
  }
}
