/** Sends a staged file in calls, to clouds that do not accept long bodies, or if a proxy does not let them pass. */
import { createHash } from 'node:crypto';
import { aborted } from '@platform/base';
import type { BeginUploadResponse, UploadService } from '@platform/proto/platform/upload/v1/upload';
import type { Client } from '@platform/rpc/client';
import { callTimeoutMs, changed, type ResumableFile } from './file-context.ts';

const chunkBytes = 4 * 1024 * 1024;

/** Returns the hash of the whole file. */
export async function writePieces(
  { file, fingerprint: { bytes }, partId, rate }: ResumableFile,
  client: Client<typeof UploadService>,
  key: Uint8Array,
  begun: Pick<BeginUploadResponse, 'offset' | 'maxChunkBytes'>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const maxChunkBytes = Math.min(chunkBytes, begun.maxChunkBytes || chunkBytes);
  const hash = createHash('sha256');
  // Two buffers: one is read and hashed while the other is sent.
  const buffers = [Buffer.allocUnsafe(maxChunkBytes), Buffer.allocUnsafe(maxChunkBytes)] as const;
  let sending: Promise<unknown> = Promise.resolve();
  let staged = Number(begun.offset);
  for (let at = 0, turn = 0; at < bytes; turn ^= 1) {
    // Chunks end where the staged bytes end, so that the next one can be sent whole.
    const wanted = Math.min(maxChunkBytes, bytes - at, at < staged ? staged - at : maxChunkBytes);
    const buffer = buffers[turn === 0 ? 0 : 1];
    const bytesRead = await file.read(buffer.subarray(0, wanted), at);
    if (bytesRead === 0) throw changed(bytes, at);
    const data = buffer.subarray(0, bytesRead);
    hash.update(data);
    const offset = at;
    at += bytesRead;
    await sending;
    if (at <= staged) continue;
    await rate.take(bytesRead, signal);
    sending = write(client, { partId, key, offset: BigInt(offset), data }, signal);
    // Awaited before the next one is sent.
    sending.catch(() => {});
    staged = at;
  }
  await sending;
  return new Uint8Array(hash.digest());
}

async function write(
  client: Client<typeof UploadService>,
  request: { partId: string; key: Uint8Array; offset: bigint; data: Uint8Array },
  signal: AbortSignal,
): Promise<void> {
  const { offset } = await client.writeUpload(request, { signal, timeoutMs: callTimeoutMs });
  requireOffset(Number(request.offset) + request.data.length, Number(offset));
}

/** @throws aborted unless the upload is at the expected position */
export function requireOffset(expected: number, found: number): void {
  if (found === expected) return;
  throw aborted(`expected the upload to be at ${expected} bytes, found ${found}: starting over`);
}
