/**
 * I13: room for a start on a full disk, which needs space for SQLite's shared memory, its write-ahead logs and a few rows, and inodes for
 * their files.
 *
 * The file `start-reserve` in the data directory occupies real blocks, and the empty files in `start-inodes` occupy inodes. Unlike the
 * ballast, they are released only by a start, so they still exist when the disk has filled up again after the ballast was released. Without
 * them, a start waits for room and logs that.
 */
import { existsSync, rmSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log } from '@platform/base';
import { ballastSizes, releaseBallastIfFull } from './ballast.ts';
import { freeBytesOf, freeInodesOf, neededForUploads, neededInodes } from './free-space.ts';
import { writeRandom } from './write-random.ts';

const mebibyte = 1024 * 1024;

/** Enough space for queries, edits and deletions for a long time on a disk without uploads. */
export const reserveBytes: number = 8 * mebibyte;

/** A start of an idle installation takes about 80 kB; edits and checkpoints add to that. */
export const startBytes: number = mebibyte;

/** Files that a start creates: its lock, write-ahead logs and their shared memory, sockets, drafts of what it replaces. */
const startInodes = 24;

const lookEveryMs = 1_000;
const sayEveryMs = 60_000;

/**
 * Must be called before anything in the data directory is opened; resolves once there is room to start. The directory need not exist yet.
 */
export async function makeRoomToStart(directory: string, clock: Clock, log: Log): Promise<void> {
  // A directory without an installation is left alone; a first start itself reports what it cannot create.
  if (!existsSync(join(directory, 'platform.json'))) return;
  releaseBallastIfFull(directory);
  if ((await shortage(directory)) !== undefined) releaseStartReserve(directory);
  let saidMs = Number.NEGATIVE_INFINITY;
  for (let short = await shortage(directory); short !== undefined; short = await shortage(directory)) {
    if (clock.monotonic() - saidMs >= sayEveryMs) {
      saidMs = clock.monotonic();
      log.error(`the disk of ${directory} is full: a start needs ${short}. It continues by itself once there is space`);
    }
    await clock.sleep(lookEveryMs);
  }
  const [free, inodes] = [await freeBytesOf(directory), await freeInodesOf(directory)];
  const full = (found: string, wanted: string): void =>
    log.error(
      `the disk of ${directory} is full: ${found} are free. Queries, edits and deletions still work; uploads are refused until ${wanted} are free`,
    );
  if (free < ballastSizes.fullBelowBytes) full(`${free} bytes`, `${neededForUploads(0)} bytes`);
  if (inodes < neededInodes) full(`${inodes} inodes`, `${neededInodes} inodes`);
}

/** What a start lacks; undefined: nothing. */
async function shortage(directory: string): Promise<string | undefined> {
  const [bytes, inodes] = [await freeBytesOf(directory), await freeInodesOf(directory)];
  if (bytes < startBytes) return `${startBytes} bytes, ${bytes} are free`;
  return inodes < startInodes ? `${startInodes} inodes, ${inodes} are free` : undefined;
}

/** For a start that finds the disk full. */
export function releaseStartReserve(directory: string): void {
  rmSync(reserveFile(directory), { force: true });
  rmSync(inodesFolder(directory), { recursive: true, force: true });
}

/** A step for `follow`: keeps the reserve while there is room for it. */
export function startReserveStep(directory: string, freeBytes: () => Promise<number>): () => Promise<boolean> {
  const file = reserveFile(directory);
  return async () => {
    await keepInodes(directory);
    const held = (await stat(file).catch(() => undefined))?.size ?? 0;
    // Written only if the ballast need not be released for it.
    if (held >= reserveBytes || (await freeBytes()) < ballastSizes.fullBelowBytes + reserveBytes) return false;
    const draft = `${file}.new`;
    try {
      {
        await using written = await open(draft, 'w', 0o600);
        await writeRandom(written, reserveBytes);
        await written.sync();
      }
      await rename(draft, file);
    } catch (caught) {
      await rm(draft, { force: true });
      throw caught;
    }
    return false;
  };
}

/** Only if the ballast and uploads have enough without them. */
async function keepInodes(directory: string): Promise<void> {
  const folder = inodesFolder(directory);
  const held = await readdir(folder).catch(() => []);
  if (held.length >= startInodes || (await freeInodesOf(directory)) < neededInodes + startInodes) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (let file = 0; file < startInodes; file++) await writeFile(join(folder, String(file)), '', { mode: 0o600 });
}

function inodesFolder(directory: string): string {
  return join(directory, 'start-inodes');
}

function reserveFile(directory: string): string {
  return join(directory, 'start-reserve');
}
