/** Lists files below a directory one at a time, without keeping a list: there may be millions. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { failedFolder } from './paths.ts';

/** Paths of regular files. `failed/` directories and links are not entered; a directory that disappears is skipped. */
export async function* walkFiles(root: string, signal: AbortSignal): AsyncGenerator<string> {
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const entries = await opendir(directory, { bufferSize: 512 }).catch(() => undefined);
    if (entries === undefined) continue;
    for await (const entry of entries) {
      if (signal.aborted) return;
      const path = join(directory, entry.name);
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && entry.name !== failedFolder) waiting.push(path);
    }
  }
}
