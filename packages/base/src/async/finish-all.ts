/**
 * Waits until everything has ended, then fails with the first error of the list. Unlike `Promise.all`, nothing is still running when it
 * returns: its caller may roll back a transaction, or close what the others use.
 */
export async function finishAll(running: readonly Promise<unknown>[]): Promise<void> {
  for (const ended of await Promise.allSettled(running)) if (ended.status === 'rejected') throw ended.reason;
}
