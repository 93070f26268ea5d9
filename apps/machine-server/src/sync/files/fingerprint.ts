import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';

/** Identifies one content of a file: another size, modification time or inode means another content. */
export interface Fingerprint {
  readonly bytes: number;
  readonly modifiedNs: bigint;
  readonly inode: bigint;
}

export function fingerprintOf({ size, mtimeNs, ino }: BigIntStats): Fingerprint {
  return { bytes: Number(size), modifiedNs: mtimeNs, inode: ino };
}

export function fingerprintText({ bytes, modifiedNs, inode }: Fingerprint): string {
  return `${bytes} ${modifiedNs} ${inode}`;
}

/** Whether the path still names this content of a regular file. */
export async function isUnchanged(path: string, fingerprint: Fingerprint): Promise<boolean> {
  const found = await lstat(path, { bigint: true });
  return found.isFile() && fingerprintText(fingerprintOf(found)) === fingerprintText(fingerprint);
}

/** Opens a regular file for reading: never through a link, and never a device or pipe that may have replaced it. */
export async function openRegular(path: string): Promise<{ handle: FileHandle; stats: BigIntStats }> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw new Error(`${path} is no longer a regular file`);
    return { handle, stats };
  } catch (caught) {
    await handle.close();
    throw caught;
  }
}
