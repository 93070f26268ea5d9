import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Makes the names in a directory durable across a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  await using handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  await handle.sync();
}
