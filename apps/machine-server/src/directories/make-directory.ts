import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a directory (0700) and its parents. It does so step by step, because Node's recursive `mkdir` never returns if the system answers
 * ENOENT for a directory that cannot be made, as under /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    // If something else has this name, the first use fails.
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw caught;
    await makeDirectory(dirname(path));
    await mkdir(path, { mode: 0o700 }).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again;
    });
  }
}
