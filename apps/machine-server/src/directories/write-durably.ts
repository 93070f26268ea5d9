import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from './make-directory.ts';
import { syncDirectory } from './sync-directory.ts';

/** Writes a small file atomically and durably, even across a power failure; mode 0600. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  await makeDirectory(dirname(path));
  const aside = `${path}.${process.pid}.tmp`;
  // Where others may write, it may be a link.
  await rm(aside, { force: true });
  await writeFile(aside, content, { mode: 0o600, flush: true, flag: 'wx' });
  await rename(aside, path);
  await syncDirectory(dirname(path));
}
