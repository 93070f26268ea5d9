/** Lists files below a directory one at a time, without keeping a list: there may be millions. */
import { access, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { failedFolder, lockFile } from './paths.ts';

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
    if (directory !== root && (await isOwned(directory))) continue;
    const entries = await opendir(directory, { bufferSize: 512 }).catch((caught: NodeJS.ErrnoException) => {
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

/** Whether a process uses it as a capture directory. */
async function isOwned(directory: string): Promise<boolean> {
  return access(join(directory, lockFile)).then(
    () => true,
    () => false,
  );
}
