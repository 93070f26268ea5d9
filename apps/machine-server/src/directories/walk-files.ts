/** Lists files below a configured folder one at a time, without keeping a list: there may be millions. */
import type { BigIntStats, Dirent } from 'node:fs';
import { access, lstat, opendir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Folder, openFolder } from './folder.ts';
import { failedFolder, lockFile } from './paths.ts';

/** A directory of this size has at most a few thousand entries. Some file systems give no size. */
const smallDirectoryBytes = 64 << 10;

export interface FoundEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'pipe' | 'socket' | 'device';
  /** The folder that contains it, open until the next entry is asked for. */
  readonly folder: Folder;
  /** Of the item itself. @throws the system's error */
  stats(): Promise<BigIntStats>;
}

export interface WalkOptions {
  /** Whether a folder is entered. */
  readonly enters: (path: string) => boolean;
  /** Called with each folder that cannot be listed; the others are. */
  readonly onUnreadable: (path: string, caught: unknown) => void;
  /** Whether folders that other processes use as capture directories are left out. */
  readonly excludesOwned: boolean;
  readonly signal: AbortSignal;
}

/**
 * Everything below a folder. Links are found, but not followed (D51). A folder that disappears is skipped.
 *
 * @param from the folder where to begin. @param root the configured one that contains it
 */
export async function* walk(from: string, root: string, options: WalkOptions): AsyncGenerator<FoundEntry> {
  const { enters, onUnreadable, excludesOwned, signal } = options;
  const waiting = [from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      await using folder = await openFolder(path, root);
      const entries = await list(folder, excludesOwned && path !== from);
      for await (const entry of entries) {
        if (signal.aborted) return;
        const found = { path: join(path, entry.name), kind: kindOf(entry), folder };
        if (found.kind === 'folder' && enters(found.path)) waiting.push(found.path);
        yield { ...found, stats: () => lstat(folder.at(entry.name), { bigint: true }) };
      }
    } catch (caught) {
      if ((caught as NodeJS.ErrnoException).code !== 'ENOENT') onUnreadable(path, caught);
    }
  }
}

/** Why an item is left out that is neither a file nor a folder. */
export const leftOut: Readonly<Record<Exclude<FoundEntry['kind'], 'file' | 'folder'>, string>> = {
  link: 'links are not followed',
  pipe: 'it is a pipe',
  socket: 'it is a socket',
  device: 'it is a device',
};

export interface WalkFilesOptions extends Partial<Pick<WalkOptions, 'onUnreadable'>> {
  /** Where to begin. Default: the whole directory. */
  readonly from?: string;
  readonly onOmitted?: (path: string, why: string) => void;
}

/**
 * Paths of regular files in a capture directory. `failed/` directories are not entered, nor are capture directories of other processes,
 * whose open files are not ours.
 */
export async function* walkFiles(
  root: string,
  signal: AbortSignal,
  { onUnreadable = () => {}, from = root, onOmitted = () => {} }: WalkFilesOptions = {},
): AsyncGenerator<string> {
  const enters = (path: string): boolean => !path.endsWith(`/${failedFolder}`);
  for await (const { path, kind } of walk(from, root, { enters, onUnreadable, excludesOwned: true, signal }))
    if (kind === 'file') yield path;
    else if (kind !== 'folder') onOmitted(path, leftOut[kind]);
}

/**
 * Sync lists all directories every few seconds, so small ones are read in one call of the system instead of five.
 *
 * @returns nothing for a capture directory of another process, if `excludesOwned`
 */
async function list(folder: Folder, excludesOwned: boolean): Promise<Iterable<Dirent> | AsyncIterable<Dirent>> {
  const { size } = await folder.stats();
  if (size > 0 && size <= smallDirectoryBytes) {
    const entries = await readdir(folder.at(), { withFileTypes: true });
    return excludesOwned && entries.some(({ name }) => name === lockFile) ? [] : entries;
  }
  return excludesOwned && (await isOwned(folder)) ? [] : opendir(folder.at(), { bufferSize: 512 });
}

/** Whether a process uses it as a capture directory. */
async function isOwned(folder: Folder): Promise<boolean> {
  return access(folder.at(lockFile)).then(
    () => true,
    () => false,
  );
}

function kindOf(entry: Dirent): FoundEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isSocket()) return 'socket';
  return entry.isFIFO() ? 'pipe' : 'device';
}
