import { mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from './sync-directory.ts';

/**
 * Makes a directory (0700) and its parents durably. It does so step by step, because Node's recursive `mkdir` never returns if the system
 * answers ENOENT for a directory that cannot be made, as under /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || dirname(path) === path) throw caught;
    await makeDirectory(dirname(path));
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (caught) {
    // If something else has this name, the first use fails.
    if ((caught as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw caught;
  }
  await keepNew(
    () => syncDirectory(dirname(path)),
    () => rmdir(path),
  );
}

/** Makes the name of a new directory durable. If that fails, the directory is removed, because no later sync would write its name. */
export async function keepNew(sync: () => Promise<void>, remove: () => Promise<void>): Promise<void> {
  try {
    await sync();
  } catch (caught) {
    const { code = '' } = caught as NodeJS.ErrnoException;
    // A directory that this account cannot list, or a file system without such a sync.
    if (['EACCES', 'EPERM', 'EINVAL', 'EROFS'].includes(code)) return;
    await remove().catch(() => {});
    throw caught;
  }
}
