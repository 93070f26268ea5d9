/**
 * I13: space for a start on a full disk, which needs some for SQLite's shared memory, its write-ahead logs and a few rows.
 *
 * The file `start-reserve` in the data directory occupies real blocks. Unlike the ballast, it is released only by a start, so it still
 * exists when the disk has filled up again after the ballast was released. Without both, a start waits for space and logs that.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log } from '@platform/base';
import { ballastSizes, releaseBallastIfFull } from './ballast.ts';
import { freeBytesOf, neededForUploads } from './free-space.ts';

const mebibyte = 1024 * 1024;

/** Enough space for queries, edits and deletions for a long time on a disk without uploads. */
export const reserveBytes: number = 8 * mebibyte;

/** A start of an idle installation takes about 80 kB; edits and checkpoints add to that. */
export const startBytes: number = mebibyte;

const lookEveryMs = 1_000;
const sayEveryMs = 60_000;

/**
 * Must be called before anything in the data directory is opened; resolves once there is room to start. The directory need not exist yet.
 */
export async function makeRoomToStart(directory: string, clock: Clock, log: Log): Promise<void> {
  // A directory without an installation is left alone; a first start itself reports what it cannot create.
  if (!existsSync(join(directory, 'platform.json'))) return;
  releaseBallastIfFull(directory);
  if ((await freeBytesOf(directory)) < startBytes) rmSync(reserveFile(directory), { force: true });
  let saidMs = Number.NEGATIVE_INFINITY;
  for (let free = await freeBytesOf(directory); free < startBytes; free = await freeBytesOf(directory)) {
    if (clock.monotonic() - saidMs >= sayEveryMs) {
      saidMs = clock.monotonic();
      log.error(
        `the disk of ${directory} is full: a start needs ${startBytes} bytes, ${free} are free. It continues by itself once there is space`,
      );
    }
    await clock.sleep(lookEveryMs);
  }
  const free = await freeBytesOf(directory);
  if (free < ballastSizes.fullBelowBytes)
    log.error(
      `the disk of ${directory} is full: ${free} bytes are free. Queries, edits and deletions still work; uploads are refused until ${neededForUploads(0)} bytes are free`,
    );
}

/** A step for `follow`: keeps the reserve while there is room for it. */
export function startReserveStep(directory: string, freeBytes: () => Promise<number>): () => Promise<boolean> {
  const file = reserveFile(directory);
  return async () => {
    const held = await stat(file).then(
      ({ size }) => size,
      () => 0,
    );
    // Written only if the ballast need not be released for it.
    if (held >= reserveBytes || (await freeBytes()) < ballastSizes.fullBelowBytes + reserveBytes) return false;
    const draft = `${file}.new`;
    try {
      // Random bytes, which a file system can neither compress nor leave out.
      await writeFile(draft, randomBytes(reserveBytes), { mode: 0o600, flush: true });
      await rename(draft, file);
    } catch (caught) {
      await rm(draft, { force: true });
      throw caught;
    }
    return false;
  };
}

function reserveFile(directory: string): string {
  return join(directory, 'start-reserve');
}
