/**
 * When to read. Collectors of the same frequency share one timer; above 200 Hz a timer fires every 5 ms and takes the
 * readings that are due by then in one go: a timer for each of 1,000 readings a second would cost more than the readings.
 */
import type { Clock } from '@platform/base';

const leastPeriodMs = 5;

interface Group {
  readonly tasks: Set<(due: number) => void>;
  readonly timer: Disposable;
}

export interface Ticker {
  /** Calls `task` with the number of readings that are due (1 up to 200 Hz), until disposed. */
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
    let taken = 0;
    const fire = (): void => {
      const elapsed = Math.floor((clock.monotonic() - started) / periodMs + 0.01);
      // After a stall the missed readings are not made up beyond one tick's worth: they would all show the same instant.
      const most = Math.max(1, Math.ceil(leastPeriodMs / periodMs) * 2);
      const due = Math.min(most, Math.max(elapsed - taken, periodMs >= leastPeriodMs ? 1 : 0));
      taken = Math.max(elapsed, taken);
      if (due > 0) for (const task of tasks) task(due);
    };
    const group = { tasks, timer: clock.every(Math.max(leastPeriodMs, periodMs), fire) };
    groups.set(hz, group);
    return group;
  }
}
