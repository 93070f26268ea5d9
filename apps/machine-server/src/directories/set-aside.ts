/** Sets aside files that will never be accepted: they are kept, with the reason beside them, and no longer delay the others. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { failedFolder } from './paths.ts';

/**
 * Moves `path` to `<directory>/failed/<its path below directory>` and writes `<file>.reason`, a line with the time `nowMs` and the reason.
 * Returns the new path.
 *
 * @param suffix `.damaged`: the cloud already has the intact part, so the file must not be given back to sync
 */
export async function setAside(
  path: string,
  directory: string,
  reason: string,
  nowMs: number,
  suffix: '' | '.damaged' = '',
): Promise<string> {
  const target = `${asidePath(path, directory)}${suffix}`;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await writeReason(target, reason, nowMs);
  await rename(path, target);
  return target;
}

/** Writes why `path` was set aside, and since when. */
export async function writeReason(path: string, reason: string, nowMs: number): Promise<void> {
  const line = `${new Date(nowMs).toISOString()} ${reason.replaceAll('\n', ' ')}\n`;
  await writeFile(`${path}.reason`, line, { mode: 0o600 });
}

export function asidePath(path: string, directory: string): string {
  const below = relative(directory, path);
  return below.startsWith('..')
    ? join(dirname(path), failedFolder, basename(path))
    : join(directory, failedFolder, below);
}
