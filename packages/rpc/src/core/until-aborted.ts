/** Waits that end when a signal is aborted, so that no call outlives its deadline or its client. */

/** The promise's outcome, or the signal's reason, whichever comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** The source's items until the signal is aborted; then throws its reason, even while waiting for an item. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let stop = (): void => {};
  // One listener for the whole stream: racing each item against one long-lived promise would grow without bound.
  const onAbort = (): void => stop();
  signal.addEventListener('abort', onAbort, { once: true });
  let exhausted = false;
  try {
    while (!exhausted) {
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        stop = () => reject(signal.reason);
        if (signal.aborted) stop();
        else iterator.next().then(resolve, reject);
      }).catch((caught: unknown) => {
        // A source that threw has ended; one that is still waiting is closed below.
        exhausted = !signal.aborted;
        throw caught;
      });
      if (next.done === true) exhausted = true;
      else yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a generator that hangs in its own await would never confirm.
    if (!exhausted) iterator.return?.().catch(() => {});
  }
}
