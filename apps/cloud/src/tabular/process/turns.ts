/**
 * Turns of work that together would need more memory than there is: some kinds may run together, others only alone. First come, first served,
 * so that none waits for ever.
 */
export interface Turns {
  /** Runs a task while nothing else has a turn. */
  alone<T>(task: () => Promise<T>): Promise<T>;
  /** Resolves once no task runs alone; the turn lasts until it is disposed. At once, without a turn, if the signal is aborted. */
  together(signal: AbortSignal): Promise<Disposable>;
}

interface Waiting {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

export function createTurns(): Turns {
  let waiting: Waiting[] = [];
  let running = 0;
  let isAlone = false;
  const advance = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (isAlone || (next.isAlone && running > 0)) return;
      waiting.shift();
      running++;
      isAlone = next.isAlone;
      next.begin();
    }
  };
  const end = (): void => {
    running--;
    isAlone = false;
    advance();
  };
  return {
    async alone(task) {
      await new Promise<void>((begin) => {
        waiting.push({ isAlone: true, begin });
        advance();
      });
      try {
        return await task();
      } finally {
        end();
      }
    },
    together: (signal) =>
      new Promise((resolve) => {
        const giveUp = (): void => {
          waiting = waiting.filter((each) => each !== own);
          resolve({ [Symbol.dispose]: () => {} });
          advance();
        };
        const own: Waiting = {
          isAlone: false,
          begin: () => {
            signal.removeEventListener('abort', giveUp);
            resolve({ [Symbol.dispose]: end });
          },
        };
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.push(own);
        advance();
      }),
  };
}
