/** Takes one named file into a safety copy without reading it. */
import { link, lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CopyVerifiedOptions, copyVerified } from './copy/copy-verified.ts';
import type { BackedUpFile, DamagedFile } from './manifest.ts';

/** A file whose checksum was not recorded, or that cannot be linked, is read and copied. */
export async function linkNamed(options: CopyVerifiedOptions): Promise<BackedUpFile | DamagedFile> {
  const { from, to, file } = options;
  const { path, bytes, sha256 } = file;
  const source = join(from, ...path.split('/'));
  const target = join(to, ...path.split('/'));
  const found = await lstat(source).catch(() => undefined);
  if (sha256 === null || bytes === null || found?.isFile() !== true || found.size !== bytes)
    return copyVerified(options);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const isLinked = await link(source, target).then(
    () => true,
    () => false,
  );
  return isLinked ? { path, bytes, sha256 } : copyVerified(options);
}
