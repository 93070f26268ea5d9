/** Checksums of a file: of the whole, and of each block, so that damage can be located. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { FileChecksum } from '../messages.ts';

export const blockBytes: number = 1 << 20;

/**
 * Reads the whole file, one block at a time, so that other work does not wait long.
 * @param pause awaited after each block with the block's size in bytes
 */
export async function checksumFile(
  path: string,
  pause?: (bytes: number) => Promise<void>,
): Promise<FileChecksum & { readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  let blockCrcs = '';
  for await (const block of blocksOf(path)) {
    hash.update(block);
    blockCrcs += crcOf(block);
    bytes += block.length;
    await pause?.(block.length);
  }
  return { bytes, sha256: hash.digest('hex'), blockCrcs };
}

/** Like FileChecksum.blockCrcs; several times faster without the SHA-256. */
export async function blockCrcsOf(path: string): Promise<string> {
  let blockCrcs = '';
  for await (const block of blocksOf(path)) blockCrcs += crcOf(block);
  return blockCrcs;
}

/** Each block overwrites the previous one. */
async function* blocksOf(path: string): AsyncGenerator<Uint8Array> {
  const block = Buffer.allocUnsafe(blockBytes);
  await using file = await open(path, 'r');
  for (let at = 0; ; at += blockBytes) {
    const read = await readBlock(file, block, at);
    if (read === 0) return;
    yield block.subarray(0, read);
  }
}

/** Fills the buffer unless the file ends first. */
export async function readBlock(
  file: { read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }> },
  buffer: Buffer,
  position: number,
): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** A block's checksum, as in FileChecksum.blockCrcs. */
export function crcOf(block: Uint8Array): string {
  return crc32(block).toString(16).padStart(8, '0');
}
