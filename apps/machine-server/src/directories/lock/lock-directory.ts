/**
 * Ensures that one process owns a capture directory (I5) or home directory: a lock file holds `<pid> <start of that process> <boot>`. A
 * lock whose process is gone, or whose pid belongs to a later process, is stale and is taken over. A lock that names this process, although it
 * does not have the directory, was left by a disk that failed while it was made or removed: this process may take it.
 */
import { readFileSync } from 'node:fs';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failedPrecondition, readRegular, unavailable } from '@platform/base';
import { inFolder, openFolder, resolveFolder, unless } from '../folder.ts';
import { makeDirectory } from '../make-directory.ts';
import { lockFile } from '../paths.ts';

export interface LockOptions {
  /** The kind of directory, for messages. */
  readonly what: string;
  /** Name of the lock file. */
  readonly file: string;
  /** What to do while another process has the directory. */
  readonly advice: string;
}

const ofCaptures: LockOptions = {
  what: 'the capture directory',
  file: lockFile,
  advice: 'Give this process a different capture_dir, or stop the other process',
};

/** What this process has or is taking, by path without links, with the identity of the folder. */
const taken = new Map<string, string>();

/**
 * Takes the directory, creating it (0700) if necessary; disposing releases it, and never throws.
 *
 * @throws failed_precondition while another process has it, or this one; the system's error if that cannot be told
 */
export async function lockDirectory(
  directory: string,
  { what, file, advice }: LockOptions = ofCaptures,
): Promise<AsyncDisposable> {
  await makeDirectory(directory);
  await using folder = await openFolder(directory, directory);
  const path = folder.at(file);
  const mine = identityOf(process.pid);
  const refuse = (held: string): never => {
    throw failedPrecondition(`${what} ${directory} belongs to the running process ${held.split(' ')[0]}. ${advice}`);
  };
  const { dev, ino } = await folder.stats();
  const id = `${dev} ${ino} ${file}`;
  const key = join(await resolveFolder(directory), file);
  if (taken.has(key)) refuse(mine);
  // The same folder by another path, as through a mount.
  const isTaken = [...taken.values()].includes(id);
  taken.set(key, id);
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      const isCreated = await createLock(path, mine);
      const held = isCreated ? mine : await readLock(path);
      if (held === undefined) continue;
      if (held === mine && (isCreated || !isTaken))
        return { [Symbol.asyncDispose]: () => release(directory, file, key) };
      if (held === mine || !isStale(held)) refuse(held);
      await removeStale(path, held);
    }
    throw unavailable(`the lock of ${what} ${directory} keeps changing hands`);
  } catch (caught) {
    taken.delete(key);
    throw caught;
  }
}

/**
 * On a disk that fails, the lock may stay. It then names this process: until it ends, nobody else gets the directory, and afterwards the lock
 * is stale.
 */
async function release(directory: string, file: string, key: string): Promise<void> {
  const mine = identityOf(process.pid);
  const remove = async (at: string): Promise<void> => {
    // A removal that failed may have happened, and another process may have the directory since.
    if ((await readLock(at)) === mine) await rm(at, { force: true });
  };
  // ENOENT, ELOOP: the directory is gone, or a link has replaced it.
  await repeated(() => inFolder(join(directory, file), directory, remove).catch(unless('ENOENT', 'ELOOP'))).catch(
    () => {},
  );
  taken.delete(key);
}

/** Undefined if there is none. What is not a small regular file is nobody's lock. @throws the system's error: it may be somebody's */
async function readLock(path: string): Promise<string | undefined> {
  try {
    return Buffer.from(await readRegular(path, { maxBytes: 4_096 })).toString('utf8');
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'failed_precondition' || code === 'resource_exhausted') return '';
    throw caught;
  }
}

async function createLock(path: string, content: string): Promise<boolean> {
  // Written to another name and linked into place, so that an empty lock is never visible.
  const aside = `${path}.${process.pid}`;
  await rm(aside, { force: true });
  await writeFile(aside, content, { flag: 'wx', mode: 0o600 });
  try {
    await link(aside, path);
    return true;
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw caught;
  } finally {
    // The lock stands or not, whatever happens to its draft: an error here would refuse the directory to the process that has just taken it.
    await rm(aside, { force: true }).catch(() => {});
  }
}

/** Removes a stale lock; if another process has just replaced it, or if that cannot be told, restores that one. */
async function removeStale(path: string, held: string): Promise<void> {
  const aside = `${path}.stale.${process.pid}`;
  await rename(path, aside).catch(() => {});
  const found = await readLock(aside).catch(() => 'unreadable');
  // Without its lock, two processes would have the directory.
  if (found !== undefined && found !== held) await repeated(() => link(aside, path).catch(unless('EEXIST')));
  await rm(aside, { force: true }).catch(() => {});
}

/** A disk may fail once. @throws the error of the third attempt */
async function repeated(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (caught) {
      if (attempt === 3) throw caught;
    }
}

function isStale(held: string): boolean {
  const pid = Number(held.split(' ')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
  } catch (caught) {
    return (caught as NodeJS.ErrnoException).code === 'ESRCH';
  }
  return identityOf(pid) !== held;
}

/** Distinguishes a process from a later one with the same pid; on systems without this information, only the pid. */
function identityOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie process owns nothing.
    const started = fields[0] === 'Z' ? 'ended' : fields[19];
    return `${pid} ${started} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
  } catch {
    return `${pid}`;
  }
}
