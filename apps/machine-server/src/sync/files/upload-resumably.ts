/**
 * Sends a large file in pieces that the cloud stages, so that an upload that breaks continues where it was, also after a restart of either
 * side: the upload is named by a hash of the part, the path and the file's content as the disk tells it (size, time, inode), and the cloud
 * knows how much it has. The file is read once per attempt; the part that the cloud already has is only hashed.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { asPlatformError, PlatformError } from '@platform/base';
import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import type { Client } from '@platform/rpc/client';
import { changed, type FileContext } from './file-context.ts';
import { type Fingerprint, fingerprintText } from './fingerprint.ts';

/** Smaller files are sent at once: repeating them costs less than the additional calls. */
const leastBytes = 8 * 1024 * 1024;
const chunkBytes = 4 * 1024 * 1024;
const callTimeoutMs = 120_000;
/** Making a file of many gigabytes durable, and checking it after a restart of the cloud, takes its time. */
const finishTimeoutMs = 900_000;

export function isResumable(bytes: number): boolean {
  return bytes >= leastBytes;
}

export interface ResumableFile extends FileContext {
  readonly handle: FileHandle;
  readonly fingerprint: Fingerprint;
  readonly metadata: UploadMetadata;
}

/** False if the cloud cannot stage it: then it is sent at once. Throws PlatformError. */
export async function uploadResumably(file: ResumableFile, signal: AbortSignal): Promise<boolean> {
  const { link, fingerprint, metadata } = file;
  const { partId } = metadata;
  const client = link.client(UploadService);
  const text = `${partId}\0${metadata.fileName}\0${fingerprintText(fingerprint)}`;
  const key = new Uint8Array(createHash('sha256').update(text).digest());
  const size = BigInt(fingerprint.bytes);
  let begun: Awaited<ReturnType<typeof client.beginUpload>>;
  try {
    begun = await client.beginUpload({ partId, key, size }, { signal, timeoutMs: callTimeoutMs });
  } catch (caught) {
    const { code } = asPlatformError(caught);
    if (code === 'unimplemented' || code === 'failed_precondition') return false;
    throw caught;
  }
  if (begun.binaryDataId !== '') return true;
  const maxChunkBytes = Math.min(chunkBytes, begun.maxChunkBytes || chunkBytes);
  const sha256 = await send(file, client, key, { offset: Number(begun.offset), maxChunkBytes }, signal);
  try {
    await client.finishUpload({ metadata, key, sha256 }, { signal, timeoutMs: finishTimeoutMs });
  } catch (caught) {
    const { code, message } = asPlatformError(caught);
    // It says something about the staged bytes, not about the file.
    if (code === 'data_loss') throw new PlatformError('aborted', message, caught);
    throw caught;
  }
  return true;
}

/** Returns the hash of the whole file. */
async function send(
  { handle, fingerprint: { bytes }, partId, rate }: ResumableFile,
  client: Client<typeof UploadService>,
  key: Uint8Array,
  { offset: first, maxChunkBytes }: { readonly offset: number; readonly maxChunkBytes: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const hash = createHash('sha256');
  // Two buffers: one is read and hashed while the other one is sent.
  const buffers = [Buffer.allocUnsafe(maxChunkBytes), Buffer.allocUnsafe(maxChunkBytes)] as const;
  let sending: Promise<unknown> = Promise.resolve();
  let staged = first;
  for (let at = 0, turn = 0; at < bytes; turn ^= 1) {
    // Chunks end where the staged bytes end, so that the next one can be sent whole.
    const wanted = Math.min(maxChunkBytes, bytes - at, at < staged ? staged - at : maxChunkBytes);
    const { bytesRead, buffer } = await handle.read(buffers[turn === 0 ? 0 : 1], 0, wanted, at);
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
  const expected = request.offset + BigInt(request.data.length);
  if (offset !== expected)
    throw new PlatformError(
      'aborted',
      `expected the upload to stand at ${expected} bytes, found ${offset}: it is begun again`,
    );
}
