import type { LogFields } from '@platform/base';

/** More items than anybody reads about. */
const maxNamed = 10_000;

/** Items below the folders of sync that are never sent: each is named once, and counted. */
export class Omitted {
  readonly #paths = new Set<string>();
  readonly #say: (message: string, fields: LogFields) => void;

  constructor(say: (message: string, fields: LogFields) => void) {
    this.#say = say;
  }

  /** At most 10,000 are counted. */
  get count(): number {
    return this.#paths.size;
  }

  note(path: string, why: string): void {
    const key = `${path}\0${why}`;
    if (this.#paths.has(key) || this.#paths.size >= maxNamed) return;
    this.#paths.add(key);
    this.#say(`${why}; it is not synced, and stays`, { path });
  }
}
