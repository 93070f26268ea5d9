/** Lists the arbitrary files below a folder, one at a time, without keeping a list: there may be millions. */
import type { BigIntStats } from 'node:fs';
import { basename } from 'node:path';
import { errorText } from '@platform/base';
import { exists } from '../../directories/disk-storage.ts';
import { isTaken, otherNames, ownersOf } from '../../directories/open-below.ts';
import { failedFolder } from '../../directories/paths.ts';
import { type FoundEntry, leftOut, walk } from '../../directories/walk-files.ts';

export interface ListFilesDeps {
  /** Folders that are not entered. */
  readonly skipped: ReadonlySet<string>;
  /** Called with the reason for each item below the folder that is never sent. */
  readonly onOmitted: (path: string, why: string) => void;
  readonly signal: AbortSignal;
}

export interface ListedFile {
  readonly path: string;
  readonly stats: BigIntStats;
}

/**
 * Every regular file, whatever its name and size. Links, devices, pipes, sockets and unreadable folders are reported and skipped; links to
 * folders are not entered. So are files with several names, unless they belong to this account or to the owner of the folder: another
 * account may have given a name to a file that is not its own. Files that were set aside are also skipped: those in a `failed` folder with
 * their `.reason` beside them.
 */
export async function* listFiles(
  root: string,
  { skipped, onOmitted, signal }: ListFilesDeps,
): AsyncGenerator<ListedFile, void> {
  const owners = await ownersOf(root);
  const onUnreadable = (path: string, caught: unknown): void => onOmitted(path, errorText(caught));
  const enters = (path: string): boolean => !skipped.has(path);
  for await (const found of walk(root, root, { enters, onUnreadable, excludesOwned: false, signal })) {
    const { path, kind } = found;
    if (kind === 'folder') continue;
    if (kind !== 'file') onOmitted(path, leftOut[kind]);
    else if (path.includes('\uFFFD')) onOmitted(path, 'its name is not valid UTF-8: rename it');
    else if (!(await isSetAside(found))) {
      const stats = await found.stats().catch(() => undefined);
      // It may have disappeared, or have been replaced, since it was listed.
      if (stats?.isFile() !== true) continue;
      if (isTaken(stats, owners)) yield { path, stats };
      else onOmitted(path, otherNames);
    }
  }
}

async function isSetAside({ path, folder }: FoundEntry): Promise<boolean> {
  if (!folder.path.endsWith(`/${failedFolder}`)) return false;
  const name = basename(path);
  const isReason = name.endsWith('.reason') && (await exists(folder.at(name.slice(0, -'.reason'.length))));
  return isReason || (await exists(folder.at(`${name}.reason`)));
}
