import { open } from 'node:fs/promises';

/** What was written to a file is on the disk; of a directory, the names in it. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
