/** The candidates of this side, as they become known. Each iteration begins with the first. */
import type { Candidate } from './peer.ts';

/** More than any computer has; a library that has no end of them is not waited for. */
const maxCandidates = 256;

export class CandidateList implements AsyncIterable<Candidate> {
  readonly #known: Candidate[] = [];
  #isComplete = false;
  #changed: PromiseWithResolvers<void> = Promise.withResolvers();

  add(candidate: Candidate): void {
    if (this.#isComplete || this.#known.length === maxCandidates) return;
    this.#known.push(candidate);
    this.#wake();
  }

  /** No further ones follow. */
  complete(): void {
    this.#isComplete = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Candidate, void, void> {
    for (let at = 0; ; at++) {
      for (let known = this.#known[at]; known === undefined; known = this.#known[at]) {
        if (this.#isComplete) return;
        await this.#changed.promise;
      }
      yield this.#known[at] as Candidate;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
