import { mkdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncPathNow } from './sync-path.ts';

/**
 * Creates a directory (0700) and its missing ancestors durably; an existing one is not changed. Works step by step, because Node's recursive
 * `mkdir` never returns if the system answers ENOENT for a directory that cannot be created, such as one under /proc.
 */
export function makeDirectory(path: string): void {
  if (tryMake(path) !== 'ENOENT' || dirname(path) === path) return;
  makeDirectory(dirname(path));
  const left = tryMake(path);
  if (left === 'ENOENT') throw new Error(`cannot create a directory at ${path}`);
}

/** Makes the names of a directory and of all above it durable: whether an earlier process has done so is unknown. */
export function syncNames(path: string): void {
  for (let at = dirname(path); ; at = dirname(at)) {
    syncReadable(at);
    if (dirname(at) === at) return;
  }
}

function tryMake(path: string): 'made' | 'ENOENT' {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'ENOENT';
    // If the name belongs to something other than a directory, using it will fail.
    if (code !== 'EEXIST') throw caught;
    return 'made';
  }
  try {
    syncReadable(dirname(path));
  } catch (caught) {
    // No later sync would write the name.
    rmdirSync(path);
    throw caught;
  }
  return 'made';
}

function syncReadable(path: string): void {
  try {
    syncPathNow(path);
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    // Directories that this account cannot list, and file systems without such a sync.
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EINVAL' && code !== 'EROFS') throw caught;
  }
}
