/** Runs something that lasts. Disposing aborts its signal and waits for its end. */
export function inBackground(run: (signal: AbortSignal) => Promise<void>): AsyncDisposable {
  const stop = new AbortController();
  const running = run(stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
