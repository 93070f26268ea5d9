/** Delivers events to followers, each from the time at which it began to follow. */

/** A follower that does not read in time loses the oldest events. */
const mostWaiting = 1_024;

export interface Feed<T> {
  add(item: T): void;
  /** Ends when the signal is aborted, or with the feed. */
  follow(isWanted: (item: T) => boolean, signal: AbortSignal): AsyncGenerator<T, void>;
  end(): void;
}

interface Follower<T> {
  readonly isWanted: (item: T) => boolean;
  readonly waiting: T[];
  wake(): void;
}

export function createFeed<T>(): Feed<T> {
  const followers = new Set<Follower<T>>();
  let ended = false;
  return {
    add(item) {
      for (const { isWanted, waiting, wake } of followers) {
        if (!isWanted(item)) continue;
        if (waiting.push(item) > mostWaiting) waiting.shift();
        wake();
      }
    },
    async *follow(isWanted, signal) {
      let arrived = Promise.withResolvers<void>();
      const follower: Follower<T> = { isWanted, waiting: [], wake: () => arrived.resolve() };
      signal.addEventListener('abort', follower.wake, { once: true });
      followers.add(follower);
      try {
        while (!ended && !signal.aborted) {
          yield* follower.waiting.splice(0);
          await arrived.promise;
          arrived = Promise.withResolvers();
        }
      } finally {
        followers.delete(follower);
        signal.removeEventListener('abort', follower.wake);
      }
    },
    end() {
      ended = true;
      for (const { wake } of followers) wake();
    },
  };
}
