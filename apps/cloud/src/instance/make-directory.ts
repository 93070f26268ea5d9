import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory (0700) and those above it; one that is there is left as it is. Step by step: Node's recursive `mkdir`
 * never returns where the system answers ENOENT for a directory that cannot be made, as under /proc.
 */
export function makeDirectory(path: string): void {
  if (tryMake(path) !== 'ENOENT' || dirname(path) === path) return;
  makeDirectory(dirname(path));
  const left = tryMake(path);
  if (left === 'ENOENT') throw new Error(`no directory can be created at ${path}`);
}

function tryMake(path: string): 'made' | 'ENOENT' {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'ENOENT';
    // If something other than a directory has the name, using it will show that.
    if (code !== 'EEXIST') throw caught;
  }
  return 'made';
}
