/** Copies one named file into a backup if it is unchanged since it was written. */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackedUpFile, DamagedFile } from '../manifest.ts';
import type { NamedFile } from './copied-stores.ts';
import { copyWithHash } from './copy-with-hash.ts';

export interface CopyVerifiedOptions {
  readonly from: string;
  readonly to: string;
  readonly file: NamedFile;
  readonly signal: AbortSignal;
}

export async function copyVerified(options: CopyVerifiedOptions): Promise<BackedUpFile | DamagedFile> {
  const { from, to, signal } = options;
  const { path, bytes, sha256 } = options.file;
  const target = join(to, ...path.split('/'));
  const found = await lstat(join(from, ...path.split('/'))).catch(() => undefined);
  if (found === undefined) return { path, reason: 'it is missing' };
  if (found.isSymbolicLink()) return { path, reason: 'a symbolic link is in its place' };
  if (!found.isFile()) return { path, reason: 'something other than a file is in its place' };
  if (bytes !== null && found.size !== bytes) return { path, reason: `it has ${found.size} bytes instead of ${bytes}` };
  try {
    const taken = await copyWithHash({ from, to, path, immutable: true, signal });
    if (sha256 === null || taken.sha256 === sha256) return taken;
  } catch (caught) {
    if (!(caught instanceof Error && 'code' in caught && caught.code === 'EIO')) throw caught;
    await rm(target, { force: true });
    return { path, reason: 'it cannot be read: EIO' };
  }
  await rm(target);
  return { path, reason: 'its bytes differ from those that were written' };
}
