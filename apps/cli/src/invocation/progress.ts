/** Shows on a terminal that a silent command is still running, on a line that disappears. */
import { type Clock, systemClock } from '@platform/sdk/cloud';
import { cut } from '../results/text-width.ts';

const silentMs = 2_000;
const everyMs = 1_000;

/** Standard error, if it is a terminal. */
type Terminal = NodeJS.WritableStream & { readonly columns?: number };

export interface Progress extends Disposable {
  /** Something was or will be written: removes the line and restarts the silent period. */
  heard(): void;
  /** Sets the text of the line. */
  says(what: string): void;
  /** Shows nothing until `resume`: something else uses the terminal. */
  pause(): void;
  resume(): void;
}

/** @param terminal absent: nothing is ever shown. A line is never longer than it is wide: only one line can be removed again. */
export function createProgress(
  what: () => string,
  terminal: Terminal | undefined,
  clock: Clock = systemClock,
): Progress {
  const stop = new AbortController();
  let since = clock.monotonic();
  let shown = false;
  let paused = false;
  let said: string | undefined;
  const clear = (): void => {
    if (shown) terminal?.write('\r\u001b[K');
    shown = false;
  };
  const watch = async (out: Terminal): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(everyMs, stop.signal);
      const silence = clock.monotonic() - since;
      if (paused || stop.signal.aborted || silence < silentMs) continue;
      shown = true;
      const line = `… ${said ?? what()} (${Math.floor(silence / 1_000)} s, press Ctrl-C to stop)`;
      out.write(`\r\u001b[K${cut(line, (out.columns ?? 80) - 1)}`);
    }
  };
  if (terminal !== undefined) watch(terminal).catch(() => {});
  const heard = (): void => {
    since = clock.monotonic();
    clear();
  };
  return {
    heard,
    says: (what) => {
      said = what;
    },
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
