/**
 * Sends a staged file in long bodies of plain HTTP, to clouds that accept them. The file is read into a few buffers, from which one thread
 * sends and another hashes.
 */
import { asPlatformError, HashedPieces, type Piece, threadHash } from '@platform/base';
import type { BeginUploadResponse } from '@platform/proto/platform/upload/v1/upload';
import { callTimeoutMs, changed, type ResumableFile } from './file-context.ts';
import { requireOffset } from './write-pieces.ts';

/** Returns the hash of the whole file; undefined if the file must be sent in calls. */
export async function putBodies(
  { file, fingerprint: { bytes }, partId, rate, link }: ResumableFile,
  key: Uint8Array,
  begun: Pick<BeginUploadResponse, 'offset' | 'maxBodyBytes'>,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const [staged, maxBodyBytes] = [Number(begun.offset), Number(begun.maxBodyBytes)];
  if (link.put === undefined || maxBodyBytes === 0) return undefined;
  using hash = threadHash();
  using pieces = new HashedPieces(hash);
  const read = async (start: number, end: number, passOn: (bytes: Piece) => Promise<void> | void): Promise<void> => {
    for (let at = start; at < end; ) {
      const piece = await pieces.take();
      const bytesRead = await file.read(piece.subarray(0, Math.min(piece.length, end - at)), at);
      if (bytesRead === 0) throw changed(bytes, at);
      if (at >= staged) await rate.take(bytesRead, signal);
      pieces.give(piece, bytesRead, passOn);
      at += bytesRead;
    }
    await pieces.settled();
  };
  await read(0, staged, () => {});
  const route = `/uploads/${encodeURIComponent(partId)}/${Buffer.from(key).toString('hex')}`;
  for (let at = staged; at < bytes; ) {
    const [start, end] = [at, Math.min(bytes, at + maxBodyBytes)];
    const body = {
      path: `${route}?offset=${start}`,
      bytes: end - start,
      write: (send: (piece: Piece) => Promise<void>) => read(start, end, send),
    };
    try {
      const answer = await link.put(body, { signal, quietMs: callTimeoutMs });
      requireOffset(end, Number((answer as { offset?: unknown }).offset));
    } catch (caught) {
      // A proxy or something else on the way does not let it pass.
      if (at === staged && asPlatformError(caught).code === 'unimplemented') return undefined;
      throw caught;
    }
    at = end;
  }
  return hash.digest();
}
