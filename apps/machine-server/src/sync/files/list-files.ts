/** Lists the arbitrary files below a folder, one at a time, without keeping a list: there may be millions. */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '@platform/base';
import { failedFolder } from '../../directories/paths.ts';

export interface ListFilesDeps {
  /** Folders that are not entered. */
  readonly skipped: ReadonlySet<string>;
  /** Called with the reason for each item below the folder that is never sent. */
  readonly onOmitted: (path: string, why: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Every regular file, whatever its name and size. Links, devices, pipes, sockets and unreadable folders are reported and skipped; links to
 * folders are not entered. Files that were set aside are also skipped: those in a `failed` folder with their `.reason` beside them.
 */
export async function* listFiles(root: string, { skipped, onOmitted, signal }: ListFilesDeps): AsyncGenerator<string> {
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const isAside = directory.endsWith(`/${failedFolder}`);
    try {
      for await (const entry of await opendir(directory, { bufferSize: 512 })) {
        if (signal.aborted) return;
        const path = join(directory, entry.name);
        if (entry.isDirectory()) {
          if (!skipped.has(path)) waiting.push(path);
        } else if (entry.name.includes('\uFFFD')) onOmitted(path, 'its name is not valid UTF-8: rename it');
        else if (entry.isFile()) {
          if (!isAside || !(await isSetAside(path))) yield path;
        } else onOmitted(path, kindOf(entry));
      }
    } catch (caught) {
      const { code } = caught as NodeJS.ErrnoException;
      // A folder may disappear while its parent is listed.
      if (code !== 'ENOENT' || directory === root) onOmitted(directory, errorText(caught));
    }
  }
}

async function isSetAside(path: string): Promise<boolean> {
  return (
    (await exists(`${path}.reason`)) || (path.endsWith('.reason') && (await exists(path.slice(0, -'.reason'.length))))
  );
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function kindOf(entry: { isSymbolicLink(): boolean; isSocket(): boolean; isFIFO(): boolean }): string {
  if (entry.isSymbolicLink()) return 'links are not followed';
  if (entry.isSocket()) return 'it is a socket';
  return entry.isFIFO() ? 'it is a pipe' : 'it is a device';
}
