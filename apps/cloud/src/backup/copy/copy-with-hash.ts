/** Copies one file into or out of a backup, and returns its size and SHA-256. */
import { createHash } from 'node:crypto';
import { link, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dataLoss } from '@platform/base';
import { syncPath } from '../../instance/sync-path.ts';
import type { BackedUpFile } from '../manifest.ts';

export interface CopyWithHashOptions {
  readonly from: string;
  readonly to: string;
  /** Relative to both. */
  readonly path: string;
  /** The file never changes, so on the same file system a hard link is sufficient. */
  readonly immutable: boolean;
  readonly signal: AbortSignal;
}

const chunkBytes = 1024 * 1024;

/** Durable except for its directories: see `syncDirectories`. @throws data_loss when the file does not exist */
export async function copyWithHash({ from, to, path, immutable, signal }: CopyWithHashOptions): Promise<BackedUpFile> {
  const source = join(from, ...path.split('/'));
  const target = join(to, ...path.split('/'));
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  if ((await stat(source).catch(() => null)) === null)
    throw dataLoss(`expected ${source}, which is part of the data, found no such file`);
  const isLinked =
    immutable &&
    (await link(source, target).then(
      () => true,
      () => false,
    ));
  return { path, ...(await readThrough(source, isLinked ? undefined : target, signal)) };
}

/** Size and SHA-256 of a file. */
export function measureFile(file: string, signal: AbortSignal): Promise<Omit<BackedUpFile, 'path'>> {
  return readThrough(file, undefined, signal);
}

async function readThrough(
  source: string,
  target: string | undefined,
  signal: AbortSignal,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(chunkBytes);
  await using input = await open(source, 'r');
  await using output = target === undefined ? undefined : await open(target, 'wx', 0o600);
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await input.read(chunk, 0, chunkBytes);
    if (bytesRead === 0) break;
    const part = chunk.subarray(0, bytesRead);
    hash.update(part);
    await output?.appendFile(part);
    bytes += bytesRead;
  }
  await output?.sync();
  return { bytes, sha256: hash.digest('hex') };
}

/** Makes the names of the files below `root` durable. */
export async function syncDirectories(root: string, paths: Iterable<string>): Promise<void> {
  const directories = new Set<string>([root]);
  for (const path of paths) {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) directories.add(join(root, at));
  }
  for (const directory of directories) await syncPath(directory);
}
