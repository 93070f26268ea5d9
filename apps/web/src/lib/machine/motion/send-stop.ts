/** Sends a stop until the machine has answered: a stop that a broken connection swallowed is sent again once the connection is back. */
import { isUndelivered } from '../path/undelivered.ts';

export interface SendStopDeps<T> {
  readonly send: () => Promise<T>;
  /** Called with each failure after which the stop is sent again. */
  readonly missed: (caught: unknown) => void;
  /** Waits before the next attempt; less if the browser is online again. */
  readonly pause: (failures: number) => Promise<void>;
}

/** @throws Error with the refusal of the machine or the cloud */
export async function sendStop<T>({ send, missed, pause }: SendStopDeps<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await send();
    } catch (caught) {
      if (!isUndelivered(caught)) throw caught;
      missed(caught);
      await pause(failures);
    }
  }
}

const slowestMs = 5_000;

export function pauseUntilOnline(failures: number): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', go);
      resolve();
    };
    const timer = setTimeout(go, Math.min(slowestMs, 250 * 2 ** failures));
    window.addEventListener('online', go);
  });
}
