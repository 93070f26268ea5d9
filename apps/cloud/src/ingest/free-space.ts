/** I13: an upload that the disk has no room for is refused before its body is read, while there is still room to seal and truncate. */
import { statfs } from 'node:fs/promises';
import { type Clock, PlatformError } from '@platform/base';

export interface FreeSpace {
  /** Throws resource_exhausted. The disk is asked at most once a second. */
  require(): Promise<void>;
}

export interface FreeSpaceOptions {
  /** Bytes that this process may still write where the log and the payloads lie. */
  readonly freeBytes: () => Promise<number>;
  /** Bytes that were acknowledged and are not sealed yet: sealing and truncating them takes room. */
  readonly unsealedBytes: () => number;
  readonly clock: Clock;
}

const reserveBytes = 512 * 1024 * 1024;
const freshMs = 1_000;

export function createFreeSpace({ freeBytes, unsealedBytes, clock }: FreeSpaceOptions): FreeSpace {
  let known: { readonly free: number; readonly atMs: number } | null = null;
  return {
    async require() {
      const now = clock.monotonic();
      if (!known || now - known.atMs >= freshMs) known = { free: await freeBytes(), atMs: now };
      const needed = Math.max(reserveBytes, 2 * unsealedBytes());
      if (known.free >= needed) return;
      throw new PlatformError(
        'resource_exhausted',
        `expected at least ${mebibytes(needed)} MiB free on the disk of the data directory, found ${mebibytes(known.free)} MiB: free some space, uploads go on by themselves`,
      );
    },
  };
}

/** Of the file system that holds `directory`. */
export async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024));
}
