/**
 * I13: space that is released when the disk is full, so that sealing and truncation (which free space) and edits can continue.
 *
 * On a completely full disk SQLite can neither delete nor checkpoint. The file `ballast` in the data directory occupies real blocks. It is
 * written step by step while uploads still have room, removed when almost nothing is free, and rewritten when there is room again.
 */
import { existsSync, rmSync, statfsSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@platform/base';
import { writeRandom } from './write-random.ts';

const mebibyte = 1024 * 1024;

export interface BallastSizes {
  readonly bytes: number;
  /** Below this the disk is considered full. Must be more than one checkpoint and one sealed file need. */
  readonly fullBelowBytes: number;
  /** Bytes written in each step; few enough not to delay a slow disk or a start. */
  readonly stepBytes: number;
}

export const ballastSizes: BallastSizes = {
  bytes: 128 * mebibyte,
  fullBelowBytes: 32 * mebibyte,
  stepBytes: 4 * mebibyte,
};

export interface BallastDeps {
  /** The data directory. */
  readonly directory: string;
  /** Bytes that this process may still write there. */
  readonly freeBytes: () => Promise<number>;
  /** Free space below which uploads are refused; the ballast must leave this much. */
  readonly neededBytes: () => number;
  readonly log: Log;
  readonly sizes?: BallastSizes;
}

/** A step for `follow`, to be run about once a second; one step at a time is enough. */
export function ballastStep(deps: BallastDeps): () => Promise<boolean> {
  const { directory, freeBytes, neededBytes, log, sizes = ballastSizes } = deps;
  const file = ballastFile(directory);
  let isReleased = false;
  return async () => {
    const free = await freeBytes();
    const held = (await stat(file).catch(() => undefined))?.size ?? 0;
    if (held > 0 && free < sizes.fullBelowBytes) {
      await rm(file);
      isReleased = true;
      log.error(
        'the disk of the data directory is full: its reserve is released, so that readings can still be sealed and removed; free some space or enlarge the disk',
        { freeBytes: free, releasedBytes: held },
      );
    } else if (held < sizes.bytes && free + held >= neededBytes() + sizes.bytes) {
      const size = Math.min(sizes.stepBytes, sizes.bytes - held);
      await using ballast = await open(file, 'a', 0o600);
      await writeRandom(ballast, size);
      await ballast.datasync();
      if (isReleased && held + size === sizes.bytes) {
        isReleased = false;
        log.info('there is space on the disk again: the reserve of the data directory is restored', {
          bytes: sizes.bytes,
        });
      }
    }
    return false;
  };
}

/** Must be called before anything in the data directory is opened, because a start on a full disk needs the space too. */
export function releaseBallastIfFull(directory: string, { fullBelowBytes }: BallastSizes = ballastSizes): void {
  const file = ballastFile(directory);
  if (!existsSync(file) || !existsSync(join(directory, 'platform.json'))) return;
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < fullBelowBytes) rmSync(file, { force: true });
}

function ballastFile(directory: string): string {
  return join(directory, 'ballast');
}
