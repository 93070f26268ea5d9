/** Decompression of gzip into one buffer: Node's default, pieces of 16 KiB that are joined, held everybody for 0.1 s with 31 MiB (D48). */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Code, ConnectError } from '@connectrpc/connect';

const unzip = promisify(gunzip);
const defaultPieceBytes = 16 * 1_024;
const trailerBytes = 4;

/** Like that of `compressionGzip`. @throws ConnectError resource_exhausted, invalid_argument */
export async function decompressGzip(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.length === 0) return new Uint8Array(0);
  // One byte more, so that the end is found without another piece. Memory that is not filled is not touched: an end that lies costs nothing.
  const chunkSize = Math.max(defaultPieceBytes, Math.min(announcedBytes(bytes), maxBytes) + 1);
  try {
    return await unzip(bytes, { chunkSize, maxOutputLength: maxBytes });
  } catch (caught) {
    const isTooLarge = Reflect.get(Object(caught), 'code') === 'ERR_BUFFER_TOO_LARGE';
    const code = isTooLarge ? Code.ResourceExhausted : Code.InvalidArgument;
    throw new ConnectError('decompression failed', code, undefined, undefined, caught);
  }
}

/** Gzip ends with the number of bytes, modulo 2^32. */
function announcedBytes(bytes: Uint8Array): number {
  if (bytes.length < trailerBytes) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset + bytes.length - trailerBytes).getUint32(0, true);
}
