import { open } from 'node:fs/promises';

/** Flushes a file's content, or a directory's entries, to the disk. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
