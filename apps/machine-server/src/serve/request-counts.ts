/** Counts the calls of each resource since the start. Bounded: beyond the first 200, called resources are counted together. */
const maxNames = 200;
const others = 'others';

export class RequestCounts {
  readonly #counts = new Map<string, number>();

  /** @param full its full name */
  add(full: string): void {
    const name = this.#counts.has(full) || this.#counts.size < maxNames ? full : others;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** By full name, in the order of the first calls. */
  get all(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
