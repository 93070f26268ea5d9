/**
 * Decides when to read. Ticks are taken on a grid: the multiples of a period on the wall clock as it was when the process started, counted
 * on the monotonic clock since. A reconfigured collector therefore keeps its ticks, a daily reading does not wait for a day after each
 * restart, and steps of the wall clock change nothing. Collectors of the same frequency share one timer. Above 200 Hz, a timer fires every
 * 5 ms and takes all readings due by then: a timer for each of 1,000 readings a second would cost more than the readings.
 */
import type { Clock } from '@platform/base';

const leastPeriodMs = 5;
/** A busy computer sometimes delays timers by this much. */
const madeUpBelowMs = 20;
/** More than the error of a position on the grid, which counts from 1970. */
const roundingMs = 0.01;

/** @param due how many readings to take now (1 below 50 Hz) @param missed ticks that passed before, during a stall */
type Task = (due: number, missed: number) => void;

interface Group {
  readonly tasks: Set<Task>;
  timer: Disposable;
}

export interface Ticker {
  /** Calls `task` at each tick, until disposed. */
  add(hz: number, task: Task): Disposable;
}

export function createTicker(clock: Clock): Ticker {
  const groups = new Map<number, Group>();
  const offsetMs = clock.now() - clock.monotonic();
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
    const tasks = new Set<Task>();
    const periodMs = 1_000 / hz;
    const position = (): number => (clock.monotonic() + offsetMs) / periodMs;
    // After a stall, at most one tick's worth of missed readings is made up: they would all show the same instant.
    const most = periodMs > madeUpBelowMs ? 1 : Math.ceil(leastPeriodMs / periodMs) * 2;
    let taken = Math.floor(position());
    const leastWaitMs = periodMs < leastPeriodMs ? leastPeriodMs : 0;
    // Whole milliseconds: a timer ignores the fraction, so that it could fire too early for the tick, for nothing.
    const untilNext = (): Disposable =>
      clock.after(Math.max(leastWaitMs, Math.ceil((taken + 1 - position()) * periodMs - roundingMs)), fire);
    const fire = (): void => {
      // Timers fire up to a millisecond early; that tick must not be taken twice.
      const now = Math.floor(position() + Math.min(0.5, 1 / periodMs));
      const passed = now - taken;
      const due = Math.min(most, passed);
      taken = Math.max(now, taken);
      group.timer = untilNext();
      if (due > 0) for (const task of tasks) task(due, passed - due);
    };
    const group: Group = { tasks, timer: untilNext() };
    groups.set(hz, group);
    return group;
  }
}
