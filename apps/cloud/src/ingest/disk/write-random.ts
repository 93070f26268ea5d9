/** Fills reserves with random bytes, which a file system can neither compress nor leave out. */
import { randomFill } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

/** In a thread. */
const fill = promisify<Buffer, Buffer>(randomFill);
/**
 * One buffer for all of them: for each 8 MB of new buffers, V8 collected all garbage, so that a new cloud spent most of its processor time on
 * its reserve.
 */
const pieceBytes = 256 * 1024;

/** Appends this many bytes at the position of the file. */
export async function writeRandom(file: FileHandle, bytes: number): Promise<void> {
  const piece = Buffer.alloc(Math.min(bytes, pieceBytes));
  for (let left = bytes; left > 0; left -= piece.length) {
    const part = piece.subarray(0, Math.min(left, piece.length));
    await fill(part);
    await file.writeFile(part);
  }
}
