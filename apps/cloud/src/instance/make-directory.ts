import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory (0700) and its missing ancestors; an existing one is not changed. Works step by step, because Node's recursive
 * `mkdir` never returns if the system answers ENOENT for a directory that cannot be created, such as one under /proc.
 */
export function makeDirectory(path: string): void {
  if (tryMake(path) !== 'ENOENT' || dirname(path) === path) return;
  makeDirectory(dirname(path));
  const left = tryMake(path);
  if (left === 'ENOENT') throw new Error(`cannot create a directory at ${path}`);
}

function tryMake(path: string): 'made' | 'ENOENT' {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'ENOENT';
    // If the name belongs to something other than a directory, using it will fail.
    if (code !== 'EEXIST') throw caught;
  }
  return 'made';
}
