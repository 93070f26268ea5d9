/**
 * Seals files that an earlier process left open (C4, C9): keeps the valid prefix under the same name and identity, cuts and logs the torn
 * tail.
 */
import { open, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, errorText, type Log } from '@platform/base';
import { type CaptureFileContents, readCaptureFile } from '@platform/capture-file';
import { syncDirectory } from './disk-storage.ts';
import { setAside } from './set-aside.ts';

/** @param path a `.prog` file that no living process writes. @param directory the capture directory that contains it. */
export async function recoverFile(
  path: string,
  directory: string,
  clock: Clock,
  log: Log,
  onRecovered: (contents: CaptureFileContents) => void = () => {},
): Promise<void> {
  if ((await stat(path)).size === 0) return rm(path, { force: true });
  let contents: CaptureFileContents;
  try {
    contents = readCaptureFile(await readFile(path));
  } catch (caught) {
    log.error('a capture file left by a crash has no readable header; set aside', { path, error: errorText(caught) });
    await setAside(path, directory, errorText(caught), clock.now());
    return;
  }
  const { readings, goodBytes, cutBytes, cutReason } = contents;
  if (cutBytes > 0) {
    log.warn('a capture file left by a crash had a torn end, which was removed', { path, cutBytes, reason: cutReason });
  }
  if (readings.length === 0) return rm(path, { force: true });
  if (cutBytes > 0) await truncate(path, goodBytes);
  await using handle = await open(path, 'r+');
  await handle.sync();
  await rename(path, path.replace(/\.prog$/, '.capture'));
  await syncDirectory(dirname(path));
  onRecovered(contents);
  log.info('recovered a capture file', { path, readings: readings.length });
}
