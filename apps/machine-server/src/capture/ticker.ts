/**
 * Decides when to read. Collectors of the same frequency share one timer. Above 200 Hz, a timer fires every 5 ms and takes all
 * readings that are due by then: a timer for each of 1,000 readings a second would cost more than the readings.
 */
import type { Clock } from '@platform/base';

const leastPeriodMs = 5;
/** A busy computer sometimes delays timers by this much. */
const madeUpBelowMs = 20;

interface Group {
  readonly tasks: Set<(due: number) => void>;
  readonly timer: Disposable;
}

export interface Ticker {
  /** Calls `task` with the number of readings that are due (1 below 50 Hz), until disposed. */
  add(hz: number, task: (due: number) => void): Disposable;
}

export function createTicker(clock: Clock): Ticker {
  const groups = new Map<number, Group>();
  return {
    add(hz, task) {
      const group = groups.get(hz) ?? start(hz);
      group.tasks.add(task);
      return {
        [Symbol.dispose]: () => {
          group.tasks.delete(task);
          if (group.tasks.size > 0 || groups.get(hz) !== group) return;
          groups.delete(hz);
          group.timer[Symbol.dispose]();
        },
      };
    },
  };

  function start(hz: number): Group {
    const tasks = new Set<(due: number) => void>();
    const periodMs = 1_000 / hz;
    const started = clock.monotonic();
    // After a stall, at most one tick's worth of missed readings is made up: they would all show the same instant.
    const most = periodMs > madeUpBelowMs ? 1 : Math.ceil(leastPeriodMs / periodMs) * 2;
    let taken = 0;
    const fire = (): void => {
      // Rounded to the nearest: timers fire up to a millisecond early, and that tick must not be taken twice.
      const elapsed = Math.round((clock.monotonic() - started) / periodMs);
      const due = Math.min(most, elapsed - taken);
      taken = Math.max(elapsed, taken);
      if (due > 0) for (const task of tasks) task(due);
    };
    const group = { tasks, timer: clock.every(Math.max(leastPeriodMs, periodMs), fire) };
    groups.set(hz, group);
    return group;
  }
}
