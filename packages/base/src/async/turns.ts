/**
 * Long computations on the event loop. They are written as steps (generators that yield wherever they may be interrupted, at least every
 * few hundred microseconds) and take turns: in each turn of the loop all of them together run for a few milliseconds, and everything else
 * that waits comes in between (D48).
 */

/** Yields nothing; returns the result. Must hold no shared state across a yield, because other steps run in between. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** For all computations together, in each turn of the event loop. */
const sliceMs = 5;

interface Computation {
  /** Runs one step; true: it has ended. */
  step(): boolean;
}

const waiting: Computation[] = [];
let usedMs = 0;
let isScheduled = false;

/** Runs the steps without interruption. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs the steps in turns with others. What fits into this turn is done at once. Throws what they throw. */
export async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  if (waiting.length === 0 && usedMs < sliceMs) {
    // Most computations have only one step, which is not worth a measurement.
    const { done, value } = steps.next();
    if (done === true) return value;
  }
  return new Promise((resolve, reject) => {
    const computation: Computation = {
      step() {
        try {
          const { done, value } = steps.next();
          if (done === true) resolve(value);
          return done === true;
        } catch (caught) {
          reject(caught);
          return true;
        }
      },
    };
    if (waiting.length > 0 || usedMs >= sliceMs || !runFor(computation, sliceMs - usedMs)) waiting.push(computation);
    schedule();
  });
}

/** @returns whether it has ended */
function runFor(computation: Computation, ms: number): boolean {
  const beganMs = performance.now();
  let hasEnded = false;
  let spentMs = 0;
  while (!hasEnded && spentMs < ms) {
    hasEnded = computation.step();
    spentMs = performance.now() - beganMs;
  }
  usedMs += spentMs;
  return hasEnded;
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    usedMs = 0;
    while (waiting.length > 0 && usedMs < sliceMs) {
      const first = waiting.shift() as Computation;
      // The others come first next time.
      if (!runFor(first, sliceMs - usedMs)) waiting.push(first);
    }
    if (waiting.length > 0) schedule();
  });
}
