/**
 * Calls on capture directories take turns. Each call takes a thread of Node's pool (36, thread-pool.ts) until it returns, which a disk that hangs
 * may never let it, and the rest of the process needs that pool too: captures into other directories, the notes of crashes, the stop.
 */
import { createLimiter } from '@platform/base';

type Limiter = <T>(task: () => Promise<T>) => Promise<T>;

class DiskTurns {
  readonly #mostOfOne: number;
  readonly #all: Limiter;
  readonly #byDirectory = new Map<string, Limiter>();

  constructor(mostOfAll: number, mostOfOne: number) {
    this.#all = createLimiter(mostOfAll);
    this.#mostOfOne = mostOfOne;
  }

  /** The turns of one capture directory. */
  of(directory: string): Limiter {
    const known = this.#byDirectory.get(directory) ?? createLimiter(this.#mostOfOne);
    this.#byDirectory.set(directory, known);
    return (task) => known(() => this.#all(task));
  }
}

/** Syncs wait for the disk itself; several at once cost a disk hardly more than one. */
export const syncTurns: DiskTurns = new DiskTurns(16, 8);
/** Everything else usually ends in the memory of the operating system. */
export const callTurns: DiskTurns = new DiskTurns(8, 4);
