/** Seals files that an earlier process left open (C4, C9): keeps the intact part under the same identity, cuts and logs the rest. */
import { constants } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { type Clock, errorText, type Log } from '@platform/base';
import { type CaptureFileContents, captureFileBytes, sealedName } from '@platform/capture-file';
import { type Folder, inFolder } from './folder.ts';
import { readCaptured } from './read-captured.ts';
import { setAside } from './set-aside.ts';
import { writeDurably } from './write-durably.ts';

export interface RecoveryDeps {
  /** Called with each file that an earlier process left open. */
  readonly onRecovered?: (contents: CaptureFileContents) => void;
  /** Called with each such file without any readable reading, though it is damaged or has no header, and its capture directory. */
  readonly onUnreadable?: (path: string, directory: string) => void;
  /** Called before such a file is sealed. */
  readonly beforeSealed?: (path: string, directory: string, contents: CaptureFileContents) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Public machine-servers do not use our locks: one that still runs has written to its file within this time. */
const othersQuietMs = 60_000;

/** @param path a `.prog` file that no living process writes. @param directory the capture directory that contains it. */
export async function recoverFile(
  path: string,
  directory: string,
  { clock, log, onRecovered, onUnreadable, beforeSealed }: RecoveryDeps,
): Promise<void> {
  const { size, mtimeMs } = await inFolder(path, directory, (at) => lstat(at));
  const remove = (): Promise<void> => inFolder(path, directory, (at) => rm(at, { force: true }));
  if (size === 0) {
    onUnreadable?.(path, directory);
    return remove();
  }
  let contents: CaptureFileContents;
  try {
    contents = await readCaptured(path, directory);
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
    return remove();
  }
  await beforeSealed?.(path, directory, contents);
  await inFolder(path, directory, (at, folder) => seal(at, folder, contents, size));
  onRecovered?.(contents);
  log.info('recovered a capture file', { path, readings: readings.length });
}

/** If the process is killed here, the next start finds the file again and seals it in the same way. */
async function seal(path: string, folder: Folder, contents: CaptureFileContents, size: number): Promise<void> {
  const { kind, header, readings, goodBytes, cutBytes } = contents;
  const sealed = kind === 'own' ? sealedName(path, readings.length) : path.replace(/\.prog$/, '.capture');
  if (goodBytes + cutBytes < size) {
    // Readings after a hole, such as a power failure leaves.
    await writeDurably(sealed, captureFileBytes(header, readings));
    await rm(path, { force: true });
  } else {
    await using handle = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const intact = (await handle.readFile()).subarray(0, goodBytes);
    if (cutBytes > 0) await handle.truncate(goodBytes);
    // Once more: after a failed sync of an earlier process, a sync without a write would not bring it to the disk.
    for (let at = 0; at < intact.length; ) at += (await handle.write(intact, at, intact.length - at, at)).bytesWritten;
    await handle.sync();
    await rename(path, sealed);
  }
  await folder.sync();
}
