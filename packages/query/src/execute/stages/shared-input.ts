/** The input of a plan that reads it in several places: buffered while it is read, so that each place gets all of it. */

import type { Batch } from '../../bson/batch.ts';
import type { Budget } from '../limits/budget.ts';

export class SharedInput implements AsyncIterable<Batch> {
  readonly #source: AsyncIterator<Batch> | Iterator<Batch>;
  readonly #budget: Budget;
  readonly #kept: Batch[] = [];
  #reading: Promise<boolean> | undefined;

  constructor(input: AsyncIterable<Batch> | Iterable<Batch>, budget: Budget) {
    this.#source = Symbol.asyncIterator in input ? input[Symbol.asyncIterator]() : input[Symbol.iterator]();
    this.#budget = budget;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch> {
    for (let index = 0; ; index++) {
      while (index >= this.#kept.length) {
        this.#reading ??= this.#readNext();
        if (!(await this.#reading)) return;
      }
      yield this.#kept[index]!;
    }
  }

  /** False at the end of the input. */
  async #readNext(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#budget.hold(next.value.bytes.length + next.value.ends.byteLength, 'JOIN, UNION or a subquery');
    this.#kept.push(next.value);
    this.#reading = undefined;
    return true;
  }
}
