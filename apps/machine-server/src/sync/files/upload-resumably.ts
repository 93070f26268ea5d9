/**
 * Sends a large file in pieces that the cloud stages, so that a broken upload continues where it stopped, even after a restart of either
 * side. The id of the upload is a hash of the part, the path and the file's fingerprint (size, time, inode), and the cloud knows how much
 * it has. The file is read once per attempt; the part that the cloud already has is only hashed.
 */
import { createHash } from 'node:crypto';
import { asPlatformError } from '@platform/base';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { callTimeoutMs, type ResumableFile } from './file-context.ts';
import { fingerprintText } from './fingerprint.ts';
import { putBodies } from './put-bodies.ts';
import { writePieces } from './write-pieces.ts';

/** Smaller files are sent at once: repeating them costs less than the additional calls. */
const leastBytes = 8 * 1024 * 1024;
/** The cloud needs time to make a file of many gigabytes durable, and to check it after a restart. */
const finishTimeoutMs = 900_000;

export function isResumable(bytes: number): boolean {
  return bytes >= leastBytes;
}

/** False if the cloud cannot stage it: it is then sent in one stream. Throws PlatformError. */
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
  const sha256 = (await putBodies(file, key, begun, signal)) ?? (await writePieces(file, client, key, begun, signal));
  await client.finishUpload({ metadata, key, sha256 }, { signal, timeoutMs: finishTimeoutMs });
  return true;
}
