/**
 * Pauses deletions while a backup is taken (I15): whatever the copied catalog lists must still exist when it is copied.
 *
 * States: free → held (by one or more backups) → free. Code that deletes durable data (log rows, Parquet files, payloads) runs the deletion
 * within `run` or checks `held` first. A hold begins when all running deletions have ended.
 */

export interface DeletionPause {
  /** While true nothing may be deleted: skip the step, which runs again later. */
  readonly held: boolean;
  /** Resolves when no deletion is running any more; none begins until the result is disposed. */
  hold(): Promise<Disposable>;
  /** Runs a deletion once there is no hold; a hold waits for its end. */
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
