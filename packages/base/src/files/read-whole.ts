import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/**
 * Reads a file of this process to its end. Node's `readFile` takes a read that gave less than was asked for, which some file systems
 * do, for the end: what is written back afterwards would be cut. For files that others named: `readRegular`.
 *
 * @throws the system's error
 */
export async function readWhole(path: string): Promise<Buffer> {
  return await buffer(createReadStream(path));
}
