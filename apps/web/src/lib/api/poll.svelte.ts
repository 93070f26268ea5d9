/** Keeps an answer of the cloud up to date: asks again after each answer, less often while the tab is hidden or the cloud is away. */
import { type Problem, problemOf } from './problem.ts';

export interface Polled<T> {
  readonly value: T | undefined;
  /** Why the newest attempt failed; the last value stays. */
  readonly problem: Problem | undefined;
  /** Asks at once, for example after a change. */
  refresh(): void;
}

const slowestMs = 15_000;
/** Browsers run a timer that is set for longer at once. */
const longestMs = 2 ** 31 - 1;

/** Call it while a component is being created; it stops when the component is destroyed. `ask` runs again when what it reads changes. */
export function poll<T>(ask: (signal: AbortSignal) => Promise<T>, everyMs: number | (() => number)): Polled<T> {
  let value = $state.raw<T>();
  let problem = $state.raw<Problem>();
  let again = $state(0);
  $effect(() => {
    void again;
    const period = typeof everyMs === 'number' ? everyMs : everyMs();
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    const wait = (): void => {
      const ms = Math.min(Math.max(slowestMs, period), period * 2 ** failures) * (document.hidden ? 4 : 1);
      timer = setTimeout(run, Math.min(ms, longestMs));
    };
    const run = (): void => {
      ask(over.signal).then(
        (answer) => {
          if (over.signal.aborted) return;
          [value, problem, failures] = [answer, undefined, 0];
          wait();
        },
        (caught: unknown) => {
          if (over.signal.aborted) return;
          problem = problemOf(caught);
          failures = Math.min(failures + 1, 5);
          wait();
        },
      );
    };
    run();
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  });
  return {
    get value() {
      return value;
    },
    get problem() {
      return problem;
    },
    refresh() {
      again += 1;
    },
  };
}
