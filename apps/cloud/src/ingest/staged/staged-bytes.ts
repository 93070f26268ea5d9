/**
 * Writes the bytes of staged uploads. Another thread hashes them in the meantime, so that a finished upload need not be read again. They
 * are synced in the background, so that the last sync has little to do. What arrived before a failure stays, in order.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { HashedPieces, type Piece, type ThreadHash, threadHash } from '@platform/base';

/** The hash of the first `bytes` of a file. */
interface Hashed {
  readonly hash: ThreadHash;
  readonly bytes: number;
}

const syncEveryBytes = 64 * 1024 * 1024;

export class StagedBytes {
  readonly #hashed = new Map<string, Hashed>();
  /** By path; a failed sync stays in the map, because it cannot be repeated. */
  readonly #syncs = new Map<string, Promise<void>>();
  readonly #unsynced = new Map<string, number>();

  /** Returns the end of what was appended. If the source fails, what it delivered before is appended, and its error is thrown. */
  async append(
    path: string,
    offset: number,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<number> {
    const hash = this.#hashAt(path, offset);
    let end = offset;
    try {
      await using handle = await open(path, 'r+');
      using pieces = new HashedPieces(hash);
      const give = (piece: Piece, length: number): void => {
        const at = end;
        end += length;
        pieces.give(piece, length, (bytes) => writeAll(handle, bytes, at));
      };
      try {
        await fill(pieces, chunks, give);
      } finally {
        await pieces.settled();
        if (hash !== undefined) this.#hashed.set(path, { hash, bytes: end });
        this.#syncLater(path, end - offset);
      }
    } finally {
      if (hash !== undefined && this.#hashed.get(path)?.hash !== hash) hash[Symbol.dispose]();
    }
    return end;
  }

  /**
   * SHA-256 of the whole file of this length. What an earlier process wrote is written once more while it is read: if a sync of it has
   * failed, the next one would not write it (I14).
   */
  async hashOf(path: string, sizeBytes: number): Promise<Uint8Array> {
    const known = this.#hashed.get(path);
    if (known?.bytes === sizeBytes) return known.hash.digest();
    using hash = threadHash();
    using pieces = new HashedPieces(hash);
    await using handle = await open(path, 'r+');
    for (let end = 0; ; ) {
      const piece = await pieces.take();
      const at = end;
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      end += bytesRead;
      if (bytesRead === 0) {
        pieces.giveBack(piece);
        break;
      }
      pieces.give(piece, bytesRead, (bytes) => writeAll(handle, bytes, at));
    }
    await pieces.settled();
    return hash.digest();
  }

  /** Resolves when the file would survive a power cut. @throws if any sync of it has failed: what is on the disk is then unknown */
  async sync(path: string): Promise<void> {
    await this.#syncs.get(path);
    const last = syncFile(path);
    this.#syncs.set(path, last);
    await last;
    this.#syncs.delete(path);
    this.#unsynced.delete(path);
  }

  /** Call when the file was removed or its state is unknown. */
  forget(path: string): void {
    this.#hashed.get(path)?.hash[Symbol.dispose]();
    this.#hashed.delete(path);
    this.#syncs.delete(path);
    this.#unsynced.delete(path);
  }

  /** Removes and returns the hash, if it covers exactly the existing bytes. */
  #hashAt(path: string, offset: number): ThreadHash | undefined {
    const known = this.#hashed.get(path);
    this.#hashed.delete(path);
    if (known?.bytes === offset) return known.hash;
    known?.hash[Symbol.dispose]();
    return offset === 0 ? threadHash() : undefined;
  }

  #syncLater(path: string, written: number): void {
    const unsynced = (this.#unsynced.get(path) ?? 0) + written;
    this.#unsynced.set(path, unsynced);
    if (unsynced < syncEveryBytes || this.#syncs.has(path)) return;
    this.#unsynced.set(path, 0);
    const syncing = syncFile(path);
    this.#syncs.set(path, syncing);
    syncing.then(
      () => {
        if (this.#syncs.get(path) === syncing) this.#syncs.delete(path);
      },
      () => {},
    );
  }
}

/** Collects small chunks into larger pieces. The last one is returned even if the source fails. */
async function fill(
  pieces: HashedPieces,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  give: (piece: Piece, length: number) => void,
): Promise<void> {
  let piece: Piece | undefined;
  let filled = 0;
  try {
    for await (const chunk of chunks) {
      for (let done = 0; done < chunk.length; ) {
        piece ??= await pieces.take();
        const part = chunk.subarray(done, done + piece.length - filled);
        piece.set(part, filled);
        filled += part.length;
        done += part.length;
        if (filled < piece.length) continue;
        give(piece, filled);
        piece = undefined;
        filled = 0;
      }
    }
  } finally {
    if (piece !== undefined) give(piece, filled);
  }
}

async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, 'r+');
  await handle.sync();
}

async function writeAll(handle: FileHandle, data: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await handle.write(data, done, data.length - done, offset + done);
    done += bytesWritten;
  }
}
