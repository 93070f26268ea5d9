/**
 * Payloads of binary and file uploads on disk, under the specified path pattern.
 *
 * States of a payload: written under a temporary name → synced → renamed, its directories synced (durable, I4) → named by a row of the
 * ingest log. A crash leaves temporary files (removed at the next start) or a complete payload that no row names (removed by `sweep` after
 * an hour). Files are never changed in place.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type Clock, ownFault } from '@platform/base';
import { syncPath } from '../instance/sync-path.ts';
import { createBlobDirectories } from './blob-directories.ts';
import { locateBlob } from './locate-blob.ts';
import { type BlobContents, type BlobRange, createVerifiedFiles } from './verified-files.ts';
import { incoming, linkBlob, type WrittenBlob, writeBlob } from './write-blob.ts';

export interface StoredBlob extends Disposable {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
}

export interface BlobStore {
  /**
   * Stores the bytes durably under `path` (segments joined by `/`, as made by `blobPath`). The sweep spares the payload until the result is
   * disposed, which must happen after its row was appended. A failing source leaves nothing behind.
   */
  put(path: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredBlob>;
  /** Stores a file on the same disk under `path` durably, without copying it; it is not changed. Otherwise like `put`. */
  adopt(path: string, file: WrittenBlob & { readonly path: string }): Promise<StoredBlob>;
  /**
   * Returns the bytes after verifying them (D33). The file is open while they are read. If the file changes in the meantime, they end with
   * data_loss instead of the last chunk.
   *
   * @param range of bytes, both ends included
   * @throws not_found; data_loss if the file differs from what was stored
   */
  get(path: string, contents: BlobContents, range?: BlobRange): Promise<AsyncIterable<Uint8Array>>;
  /** Does nothing if the payload does not exist. */
  remove(path: string): Promise<void>;
  /** Removes payloads older than `minAgeMs` (default one hour) for which `belongs` returns false; returns how many. */
  sweep(belongs: (path: string) => boolean | Promise<boolean>, minAgeMs?: number): Promise<number>;
}

export interface BlobStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
}

const hourMs = 3_600_000;

/** Creates the directory if needed and removes incomplete files left by an earlier process (I14). */
export async function openBlobStore(options: BlobStoreOptions): Promise<BlobStore> {
  const { directory, clock } = options;
  const temporary = join(directory, incoming);
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  await syncPath(directory);
  const folder = { directory, makeDirectory: createBlobDirectories(directory) };
  const held = new Map<string, number>();
  const verified = createVerifiedFiles(() => clock.now());

  const hold = (path: string): void => void held.set(path, (held.get(path) ?? 0) + 1);
  const release = (path: string): void => {
    const left = (held.get(path) ?? 1) - 1;
    if (left > 0) held.set(path, left);
    else held.delete(path);
  };

  const store = async (path: string, write: () => Promise<WrittenBlob>): Promise<StoredBlob> => {
    hold(path);
    try {
      const written = await write();
      let released = false;
      return {
        path,
        ...written,
        [Symbol.dispose]() {
          if (!released) release(path);
          released = true;
        },
      };
    } catch (caught) {
      release(path);
      throw diskError(caught, path);
    }
  };

  return {
    put: (path, chunks) => store(path, () => writeBlob(folder, path, chunks)),
    adopt: (path, file) => store(path, () => linkBlob(folder, path, file)),
    async get(path, contents, range) {
      return verified.open(locateBlob(directory, path), contents, range);
    },
    async remove(path) {
      await rm(locateBlob(directory, path), { force: true });
    },
    async sweep(belongs, minAgeMs = hourMs) {
      let removed = 0;
      for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        const path = relative(directory, file).split(sep).join('/');
        if (!entry.isFile() || path.startsWith(`${incoming}/`) || held.has(path)) continue;
        const found = await stat(file).catch(() => null);
        // Its row may have been appended after the directory was listed, so the row is checked last.
        if (!found || clock.now() - found.mtimeMs < minAgeMs || (await belongs(path))) continue;
        await rm(file, { force: true });
        removed++;
      }
      return removed;
    },
  };
}

function diskError(caught: unknown, path: string): unknown {
  const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return caught;
  return ownFault('resource_exhausted', 'the disk of the server is full; the payload was not stored', path, caught);
}
