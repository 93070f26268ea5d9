import type { BigIntStats } from 'node:fs';

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
