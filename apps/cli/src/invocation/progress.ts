/** Says on a terminal that a command still works, once it has been silent for a while, on a line that goes away. */
import { type Clock, systemClock } from '@platform/sdk/cloud';

const silentMs = 2_000;
const everyMs = 1_000;

export interface Progress extends Disposable {
  /** Something was written, or is about to be: the line goes away, and the silence begins anew. */
  heard(): void;
  /** Nothing is shown from now on: somebody else has the terminal. */
  pause(): void;
  resume(): void;
}

/** @param terminal absent: nothing is ever shown. */
export function createProgress(
  what: () => string,
  terminal: NodeJS.WritableStream | undefined,
  clock: Clock = systemClock,
): Progress {
  const stop = new AbortController();
  let since = clock.monotonic();
  let shown = false;
  let paused = false;
  const clear = (): void => {
    if (shown) terminal?.write('\r\u001b[K');
    shown = false;
  };
  const watch = async (out: NodeJS.WritableStream): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(everyMs, stop.signal);
      const silence = clock.monotonic() - since;
      if (paused || stop.signal.aborted || silence < silentMs) continue;
      shown = true;
      out.write(`\r\u001b[K… ${what()} (${Math.floor(silence / 1_000)} s, Ctrl-C ends it)`);
    }
  };
  if (terminal !== undefined) watch(terminal).catch(() => {});
  const heard = (): void => {
    since = clock.monotonic();
    clear();
  };
  return {
    heard,
    pause: () => {
      paused = true;
      clear();
    },
    resume: () => {
      paused = false;
      heard();
    },
    [Symbol.dispose]: () => {
      stop.abort();
      clear();
    },
  };
}
