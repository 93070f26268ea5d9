/** Lists files below a directory one at a time, without keeping a list: there may be millions. */
import type { Dirent } from 'node:fs';
import { access, opendir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { failedFolder, lockFile } from './paths.ts';

/** A directory of this size has at most a few thousand entries. Some file systems give no size. */
const smallDirectoryBytes = 64 << 10;

/**
 * Paths of regular files. `failed/` directories and links are not entered, nor are capture directories of other processes, whose open files
 * are not ours. A directory that disappears is skipped.
 *
 * @param onUnreadable called with each directory that cannot be listed; the others are listed
 */
export async function* walkFiles(
  root: string,
  signal: AbortSignal,
  onUnreadable: (directory: string, caught: unknown) => void = () => {},
): AsyncGenerator<string> {
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const entries = await list(directory, directory !== root).catch((caught: NodeJS.ErrnoException) => {
      if (caught.code !== 'ENOENT') onUnreadable(directory, caught);
    });
    if (!entries) continue;
    for await (const entry of entries) {
      if (signal.aborted) return;
      const path = join(directory, entry.name);
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && entry.name !== failedFolder) waiting.push(path);
    }
  }
}

/**
 * Sync lists all directories every few seconds, so small ones are read in one call of the system instead of five.
 *
 * @returns undefined for a capture directory of another process, if `excludesOwned`
 */
async function list(
  directory: string,
  excludesOwned: boolean,
): Promise<Iterable<Dirent> | AsyncIterable<Dirent> | undefined> {
  const { size } = await stat(directory);
  if (size > 0 && size <= smallDirectoryBytes) {
    const entries = await readdir(directory, { withFileTypes: true });
    return excludesOwned && entries.some(({ name }) => name === lockFile) ? undefined : entries;
  }
  return excludesOwned && (await isOwned(directory)) ? undefined : opendir(directory, { bufferSize: 512 });
}

/** Whether a process uses it as a capture directory. */
async function isOwned(directory: string): Promise<boolean> {
  return access(join(directory, lockFile)).then(
    () => true,
    () => false,
  );
}
