/** Seals files that an earlier process left open (C4, C9): keeps the intact part under the same identity, cuts and logs the rest. */
import { open, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorText } from '@platform/base';
import { type CaptureFileContents, captureFileBytes, sealedName } from '@platform/capture-file';
import type { DirectoriesDeps } from './directories.ts';
import { syncDirectory } from './disk-storage.ts';
import { readCaptured } from './read-captured.ts';
import { setAside } from './set-aside.ts';
import { writeDurably } from './write-durably.ts';

/** Public machine-servers do not use our locks: one that still runs has written to its file within this time. */
const othersQuietMs = 60_000;

/** @param path a `.prog` file that no living process writes. @param directory the capture directory that contains it. */
export async function recoverFile(
  path: string,
  directory: string,
  { clock, log, onRecovered, onUnreadable, beforeSealed }: Omit<DirectoriesDeps, 'home' | 'ledger'>,
): Promise<void> {
  const { size, mtimeMs } = await stat(path);
  if (size === 0) {
    onUnreadable?.(path, directory);
    return rm(path, { force: true });
  }
  let contents: CaptureFileContents;
  try {
    contents = await readCaptured(path);
  } catch (caught) {
    log.error('a capture file left by a crash has no readable header; set aside', { path, error: errorText(caught) });
    onUnreadable?.(path, directory);
    await setAside(path, directory, errorText(caught), clock.now());
    return;
  }
  const { kind, readings, cutBytes, cutReason } = contents;
  if (kind === 'public' && Math.abs(clock.now() - mtimeMs) < othersQuietMs) {
    log.warn('another program may still write this capture file; it is not touched until the next start', { path });
    return;
  }
  if (cutBytes > 0)
    log.warn('a capture file left by a crash had damaged parts, which were removed', {
      path,
      cutBytes,
      reason: cutReason,
    });
  if (readings.length === 0) {
    if (cutBytes > 0) onUnreadable?.(path, directory);
    return rm(path, { force: true });
  }
  await beforeSealed?.(path, contents);
  await seal(path, contents, size);
  onRecovered?.(contents);
  log.info('recovered a capture file', { path, readings: readings.length });
}

/** If the process is killed here, the next start finds the file again and seals it in the same way. */
async function seal(path: string, contents: CaptureFileContents, size: number): Promise<void> {
  const { kind, header, readings, goodBytes, cutBytes } = contents;
  const sealed = kind === 2 ? sealedName(path, readings.length) : path.replace(/\.prog$/, '.capture');
  if (goodBytes + cutBytes < size) {
    // Readings after a hole, such as a power failure leaves.
    await writeDurably(sealed, captureFileBytes(header, readings));
    await rm(path, { force: true });
  } else {
    if (cutBytes > 0) await truncate(path, goodBytes);
    await using handle = await open(path, 'r+');
    await handle.sync();
    await rename(path, sealed);
  }
  await syncDirectory(dirname(path));
}
