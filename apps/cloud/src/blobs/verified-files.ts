/**
 * Serves files only as they were stored (D33).
 *
 * A file is hashed before its first byte is sent, and again whenever device, inode, size, mtime or ctime have changed. A file that is read
 * completely is hashed again while it is sent, which also detects silent disk errors. The last chunk waits for the result, so that no
 * reader ever gets all of a damaged file.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dataLoss, notFound, type PlatformError } from '@platform/base';
import { type FileStamp, isSameStamp } from '../instance/file-stamp.ts';

/** The stored contents. */
export interface BlobContents {
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Both ends are included. */
export interface BlobRange {
  readonly start: number;
  readonly end: number;
}

export interface VerifiedFiles {
  /** @throws not_found, data_loss */
  open(file: string, contents: BlobContents, range?: BlobRange): Promise<AsyncIterable<Uint8Array>>;
}

/** Files that need no hashing as long as they look unchanged; each entry costs about 200 bytes. */
const maxKnown = 20_000;
const chunkBytes = 256 * 1024;

/** A file changed less than this ago may change again within one tick of the file system's clock, so it is hashed each time. */
const tickMs = 2_000;

export function createVerifiedFiles(now: () => number): VerifiedFiles {
  /** By file: its stamp when its hash was right. The least recently used is removed first. */
  const known = new Map<string, FileStamp>();

  return {
    async open(file, contents, range) {
      const { stamp, changedMs } = await look(file, contents, known.get(file));
      known.delete(file);
      if (now() - changedMs > tickMs) known.set(file, stamp);
      const [oldest] = known.keys();
      if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
      return read(file, contents, stamp, range);
    },
  };
}

interface Look {
  readonly stamp: FileStamp;
  readonly changedMs: number;
}

/** Checks the file. Its bytes are hashed unless its stamp has not changed since they were last hashed. */
async function look(file: string, contents: BlobContents, before: FileStamp | undefined): Promise<Look> {
  await using handle = await openFile(file);
  const stamp = await handle.stat({ bigint: true });
  const [size, changedMs] = [Number(stamp.size), Number(stamp.ctimeMs)];
  if (before !== undefined && isSameStamp(before, stamp)) return { stamp: before, changedMs };
  if (size !== contents.sizeBytes) throw damaged(`${contents.sizeBytes} bytes`, `${size}`);
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(handle)) hash.update(chunk);
  requireHash(hash.digest('hex'), contents);
  const { dev, ino, mtimeNs, ctimeNs } = stamp;
  return { stamp: { dev, ino, size: stamp.size, mtimeNs, ctimeNs }, changedMs };
}

/** Opens the file only when it is read, because a file that was checked need not be read. */
async function* read(
  file: string,
  contents: BlobContents,
  seen: FileStamp,
  range: BlobRange | undefined,
): AsyncIterable<Uint8Array> {
  await using handle = await openFile(file);
  const hash = range === undefined ? createHash('sha256') : undefined;
  let last: Uint8Array | undefined;
  for await (const chunk of chunksOf(handle, range)) {
    hash?.update(chunk);
    if (last !== undefined) yield last;
    last = chunk;
  }
  if (!isSameStamp(seen, await handle.stat({ bigint: true })))
    throw damaged('a file that does not change', 'it changed while it was being read');
  if (hash !== undefined) requireHash(hash.digest('hex'), contents);
  if (last !== undefined) yield last;
}

async function* chunksOf(handle: FileHandle, range?: BlobRange): AsyncIterable<Uint8Array> {
  const end = range === undefined ? Number.POSITIVE_INFINITY : range.end + 1;
  for (let at = range?.start ?? 0; at < end; ) {
    const wanted = Math.min(chunkBytes, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Fails on symbolic links, because a link is not what was stored. */
async function openFile(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (caught: unknown) => {
      const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
      if (code === 'ENOENT' || code === 'ENOTDIR') throw notFound('the file is missing', caught);
      if (code === 'ELOOP') throw damaged('a file', 'a symbolic link', caught);
      throw damaged('a file that can be read', String(code ?? caught), caught);
    },
  );
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw damaged('a file', 'something else');
}

function requireHash(found: string, { sha256 }: BlobContents): void {
  if (found !== sha256) throw damaged(`SHA-256 ${sha256.slice(0, 16)}…`, `${found.slice(0, 16)}…`);
}

function damaged(expected: string, found: string, cause?: unknown): PlatformError {
  return dataLoss(`expected ${expected}, found ${found}`, cause);
}
