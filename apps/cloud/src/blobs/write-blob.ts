/** Writes one payload durably: at every moment its name refers either to all of its bytes, or to the previous ones. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from '../instance/sync-path.ts';
import { locateBlob } from './locate-blob.ts';

/** Folder below the payloads' directory for files being written. */
export const incoming = '.incoming';

export interface WrittenBlob {
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
}

export interface BlobFolder {
  readonly directory: string;
  /** Makes a directory below it durably (blob-directories.ts). */
  readonly makeDirectory: (path: string) => Promise<void>;
}

/** @param check throws to reject the bytes; nothing changes then */
export async function writeBlob(
  { directory, makeDirectory }: BlobFolder,
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  check: (written: WrittenBlob) => void = () => {},
): Promise<WrittenBlob> {
  const target = locateBlob(directory, path);
  const draft = join(directory, incoming, randomUUID());
  try {
    const written = await writeDraft(draft, chunks);
    check(written);
    await makeDirectory(dirname(target));
    await rename(draft, target);
    await syncPath(dirname(target));
    return written;
  } catch (caught) {
    await rm(draft, { force: true });
    throw caught;
  }
}

/** @param file already durable */
export async function linkBlob(
  { directory, makeDirectory }: BlobFolder,
  path: string,
  { path: file, sizeBytes, sha256 }: WrittenBlob & { readonly path: string },
): Promise<WrittenBlob> {
  const target = locateBlob(directory, path);
  await makeDirectory(dirname(target));
  await link(file, target);
  await syncPath(dirname(target));
  return { sizeBytes, sha256 };
}

async function writeDraft(
  draft: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<WrittenBlob> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const file: FileHandle = await open(draft, 'wx', 0o600);
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { sizeBytes, sha256: new Uint8Array(hash.digest()) };
}
