/** Lets one process own a directory: a lock file names the owner, and is taken over if the owner no longer exists. */
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { failedPrecondition } from '@platform/base';

/** Claims `file` for this process. Throws failed_precondition naming the owner's process id if that process is alive. */
export function claimProcessLock(file: string, what: string): Disposable {
  const mine = `${process.pid} ${startTime(process.pid) ?? ''}`;
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        linkSync(draft, file);
        return { [Symbol.dispose]: () => release(file, mine) };
      } catch (caught) {
        if ((caught as NodeJS.ErrnoException).code !== 'EEXIST') throw caught;
        const owner = readOwner(file);
        if (owner !== undefined && isAlive(owner.pid, owner.started)) {
          throw failedPrecondition(
            `${what} is in use by process ${owner.pid}. Stop that process first, or choose another directory`,
          );
        }
        removeStale(file, owner);
      }
    }
    throw failedPrecondition(`${what} is being claimed by another process; try again`);
  } finally {
    tryUnlink(draft);
  }
}

interface Owner {
  readonly text: string;
  readonly pid: number;
  readonly started: string;
}

function readOwner(file: string): Owner | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    const [pid = '', started = ''] = text.split(' ');
    return Number.isInteger(Number(pid)) && pid !== '' ? { text, pid: Number(pid), started } : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a stale lock; if another process has just replaced it, restores that process's lock. */
function removeStale(file: string, stale: Owner | undefined): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readOwner(aside)?.text !== stale?.text) linkSync(aside, file);
  } catch {
    // Another process removed or replaced it: the next check will show which.
  }
  tryUnlink(aside);
}

/** The start time distinguishes a live owner from another process that got the same id after a reboot. */
function isAlive(pid: number, started: string): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = startTime(pid);
  return now === undefined || started === '' || now === started;
}

function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function release(file: string, mine: string): void {
  try {
    if (readFileSync(file, 'utf8') === mine) unlinkSync(file);
  } catch {
    // Already removed: nothing is held.
  }
}

function tryUnlink(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Already removed.
  }
}
