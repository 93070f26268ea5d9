/**
 * Reads a small file that a start must not take for absent because the disk fails at that moment: it would soon be overwritten, and what it
 * tells would be forgotten.
 */
import { rename } from 'node:fs/promises';
import { type ClockAndLog, errorText, type Log, readWhole } from '@platform/base';

const firstMs = 100;
const longestMs = 2_000;
/** For how long attempts are made. A machine whose disk has lost one sector must start nevertheless. */
const giveUpMs = 20_000;

/**
 * Repeats a read that fails for 20 s. Then the file is set aside as `<path>.unreadable`, which is logged. Never throws.
 *
 * @returns undefined if there is no such file, or none that can be read
 */
export async function readState(path: string, { clock, log }: ClockAndLog): Promise<string | undefined> {
  const untilMs = clock.monotonic() + giveUpMs;
  for (let waitMs = firstMs; ; waitMs = Math.min(2 * waitMs, longestMs)) {
    try {
      return (await readWhole(path)).toString();
    } catch (caught) {
      if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      if (clock.monotonic() >= untilMs) {
        await setAside(path, caught, log);
        return undefined;
      }
    }
    await clock.sleep(waitMs);
  }
}

async function setAside(path: string, caught: unknown, log: Log): Promise<void> {
  const aside = `${path}.unreadable`;
  const problem = await rename(path, aside).then(
    () => `it was set aside as ${aside}`,
    (error: unknown) => `it cannot be set aside: ${errorText(error)}`,
  );
  log.error(`a file of an earlier run cannot be read; ${problem}`, { path, error: errorText(caught) });
}
