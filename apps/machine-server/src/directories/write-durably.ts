import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from './disk-storage.ts';
import { makeDirectory } from './make-directory.ts';

/** Writes a small file atomically and durably, even across a power cut; mode 0600. */
export async function writeDurably(path: string, content: string): Promise<void> {
  await makeDirectory(dirname(path));
  const aside = `${path}.${process.pid}.tmp`;
  const handle = await open(aside, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(aside, path);
  await syncDirectory(dirname(path));
}
