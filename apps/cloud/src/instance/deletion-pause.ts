/**
 * Deleting pauses while a backup is taken (I15): what the copied catalog lists must still be there when it is copied.
 *
 * States: free → held (by one backup or several) → free. Whoever deletes durable data (log rows, Parquet files, payloads) does
 * it inside `run` or asks `held` first; a hold begins when the deletions that were running have ended.
 */

export interface DeletionPause {
  /** While true nothing may be deleted: skip the step, it comes round again. */
  readonly held: boolean;
  /** Resolves when no deletion runs any more; none begins until the result is disposed. */
  hold(): Promise<Disposable>;
  /** Runs a deletion once nothing is held, and lets holds wait for its end. */
  run<T>(deletion: () => Promise<T>): Promise<T>;
}

export function createDeletionPause(): DeletionPause {
  let holds = 0;
  let running = 0;
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  return {
    get held() {
      return holds > 0;
    },
    async hold() {
      holds++;
      while (running > 0) await changed.promise;
      let released = false;
      return {
        [Symbol.dispose]() {
          if (released) return;
          released = true;
          holds--;
          tell();
        },
      };
    },
    async run(deletion) {
      while (holds > 0) await changed.promise;
      running++;
      try {
        return await deletion();
      } finally {
        running--;
        tell();
      }
    },
  };
}
