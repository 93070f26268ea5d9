/**
 * Calls on files that others named take turns. Each call takes a thread of Node's pool until it returns, which may be never (a file system
 * on the network), and every other file of this process needs that pool too.
 */
import { type Clock, systemClock } from '../async/clock.ts';
import { PlatformError } from '../errors.ts';

/** A ninth of the threads of a machine-server (its thread-pool.ts), and all of another process of ours. */
const mostAtOnce = 4;
/** How long a call waits for its turn. Usually it waits for less than a millisecond. */
const longestWaitMs = 10_000;

export class FileTurns {
  readonly #clock: Clock;
  readonly #underWay = new Set<{ readonly path: string }>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws unavailable if earlier calls do not return; it names their files */
  async run<T>(path: string, task: () => Promise<T>): Promise<T> {
    if (this.#underWay.size >= mostAtOnce) await this.#turn(path);
    const call = { path };
    this.#underWay.add(call);
    try {
      return await task();
    } finally {
      this.#underWay.delete(call);
      const [next] = this.#waiting;
      next?.();
    }
  }

  async #turn(path: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const proceed = (): void => {
      this.#waiting.delete(proceed);
      resolve();
    };
    this.#waiting.add(proceed);
    using _limit = this.#clock.after(longestWaitMs, () => {
      this.#waiting.delete(proceed);
      const others = [...new Set([...this.#underWay].map((each) => each.path))].join(', ');
      const text = `${path}: expected to be read within ${longestWaitMs / 1_000} s, found that other files do not answer: ${others}`;
      reject(new PlatformError('unavailable', text));
    });
    await promise;
    // Another call may have begun in between.
    if (this.#underWay.size >= mostAtOnce) await this.#turn(path);
  }
}

/** Those of this process: the pool of threads is its too. */
export const fileTurns: FileTurns = new FileTurns(systemClock);
