import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';

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
