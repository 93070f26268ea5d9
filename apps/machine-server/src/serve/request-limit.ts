/** Limits the calls in progress for each resource of a type. */
export class RequestLimit {
  readonly #limit: number;
  readonly #inProgress = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one more call until the result is disposed. @throws resource_exhausted */
  enter(name: string): Disposable {
    const count = this.#inProgress.get(name) ?? 0;
    if (count >= this.#limit) throw resourceExhausted(`exceeded request limit ${this.#limit} on resource ${name}`);
    this.#inProgress.set(name, count + 1);
    return { [Symbol.dispose]: () => this.#leave(name) };
  }

  #leave(name: string): void {
    const left = (this.#inProgress.get(name) ?? 1) - 1;
    if (left === 0) this.#inProgress.delete(name);
    else this.#inProgress.set(name, left);
  }
}

import { resourceExhausted } from '@platform/base';
