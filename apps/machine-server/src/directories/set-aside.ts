/** Sets aside files that will never be accepted: they are kept, with the reason beside them, and no longer delay the others. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { inFolder } from './folder.ts';
import { failedFolder } from './paths.ts';

/**
 * Moves `path` to `<directory>/failed/<its path below directory>` and writes `<file>.reason`, a line with the time `nowMs` and the reason.
 * Returns the new path.
 *
 * @param directory a configured folder, or one in it. @param root the configured folder; default: `directory` @param suffix `.damaged`: the
 *   cloud already has the intact part, so the file must not be given back to sync
 */
export async function setAside(
  path: string,
  directory: string,
  reason: string,
  nowMs: number,
  { suffix = '', root = directory }: { readonly suffix?: '' | '.damaged'; readonly root?: string } = {},
): Promise<string> {
  const target = `${asidePath(path, directory)}${suffix}`;
  await writeReason(target, root, reason, nowMs);
  await inFolder(target, root, (to) => inFolder(path, root, (from) => rename(from, to)));
  return target;
}

/** Writes why `path` was set aside, and since when. @param root the configured folder that contains it */
export async function writeReason(path: string, root: string, reason: string, nowMs: number): Promise<void> {
  const line = `${new Date(nowMs).toISOString()} ${reason.replaceAll('\n', ' ')}\n`;
  const write = async (at: string): Promise<void> => {
    // Another account may have put a link or a file of its own there.
    await rm(at, { force: true });
    await writeFile(at, line, { mode: 0o600, flag: 'wx' });
  };
  await inFolder(`${path}.reason`, root, write, { makes: true });
}

export function asidePath(path: string, directory: string): string {
  const below = relative(directory, path);
  return below.startsWith('..')
    ? join(dirname(path), failedFolder, basename(path))
    : join(directory, failedFolder, below);
}
