/** Measures delays on this computer because its processors and its disk are busy with other work. */
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from './temporary-directory.ts';

export interface Lag extends AsyncDisposable {
  /** The longest delay so far. */
  readonly longestMs: number;
}

const everyMs = 50;

/** Repeatedly waits, writes and syncs a little, and measures the time beyond the wait. */
export async function measureLag(): Promise<Lag> {
  const directory = await temporaryDirectory('lag-');
  const handle = await open(directory.file('probe'), 'w');
  let [longestMs, isOver] = [0, false];
  const measuring = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      await sleep(everyMs);
      await handle.write('x', 0);
      await handle.datasync();
      longestMs = Math.max(longestMs, performance.now() - startedMs - everyMs);
    }
  })();
  return {
    get longestMs() {
      return longestMs;
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await measuring;
      await handle.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}
