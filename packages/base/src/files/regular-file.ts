/**
 * The one way to open a file that others named: in a configuration, in a call, in a package, in a folder into which others write, in a
 * backup. What has that name may be a pipe, which waits for its other end, a device that never ends or that reacts to being opened, a link,
 * or a file that grows while it is read.
 *
 * Only regular files are opened, never blocking; reading is bounded by bytes; and the calls take turns (`FileTurns`), so that a file system
 * that does not answer cannot hold up the other files of this process. Times are whole numbers, as messages need them.
 */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { PlatformError } from '../errors.ts';
import { type FileTurns, fileTurns } from './file-turns.ts';

export interface OpenOptions {
  /** Whether a link as the last part of the path is followed. Default: no. Links in the folders above are always followed. */
  readonly followsLinks?: boolean;
  /** Stands for the path in errors. Default: the path. */
  readonly name?: string;
  /** Default: those of all files that configurations, calls and packages name. */
  readonly turns?: FileTurns;
}

export interface ReadOptions extends OpenOptions {
  readonly maxBytes: number;
  /** Name of the setting that limits the size, for the error. */
  readonly limitName?: string;
}

type Kind = Pick<BigIntStats, 'isFile' | 'isFIFO' | 'isSocket' | 'isDirectory' | 'isSymbolicLink'>;

/** A regular file that is open for reading. */
export class RegularFile implements AsyncDisposable {
  readonly path: string;
  readonly handle: FileHandle;
  /** As it was opened. Its times are whole. */
  readonly stats: BigIntStats;
  readonly #turns: FileTurns;

  constructor(path: string, handle: FileHandle, stats: BigIntStats, turns: FileTurns) {
    this.path = path;
    this.handle = handle;
    this.stats = stats;
    this.#turns = turns;
  }

  get size(): number {
    return Number(this.stats.size);
  }

  /** Reads up to the length of `into`. @returns the number of bytes; 0 at the end */
  async read(into: Uint8Array, position: number): Promise<number> {
    const { bytesRead } = await this.#turns.run(this.path, () => this.handle.read(into, 0, into.length, position));
    return bytesRead;
  }

  /** @throws resource_exhausted if there are more, also if it grows meanwhile */
  async readAll({ maxBytes, limitName }: ReadOptions): Promise<Uint8Array<ArrayBuffer>> {
    if (this.size > maxBytes) throw tooLarge(this.path, this.size, maxBytes, limitName);
    // One byte more shows the end, and that there is more than allowed. Files of the kernel have the size 0.
    let bytes = new Uint8Array(this.size + 1);
    for (let length = 0; ; ) {
      const read = await this.read(bytes.subarray(length), length);
      length += read;
      if (length > maxBytes) throw tooLarge(this.path, undefined, maxBytes, limitName);
      if (read === 0) return bytes.subarray(0, length);
      if (length === bytes.length) bytes = grown(bytes, maxBytes);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}

/**
 * Opens a regular file for reading.
 *
 * @throws failed_precondition if something else has this name; unavailable if other files do not answer; the system's error
 */
export async function openRegular(
  path: string,
  { followsLinks = false, name = path, turns = fileTurns }: OpenOptions = {},
): Promise<RegularFile> {
  return turns.run(name, async () => {
    // Before it is opened: some devices react to that.
    requireRegular(name, await (followsLinks ? stat : lstat)(path, { bigint: true }));
    const handle = await open(path, constants.O_RDONLY | flagsFor(followsLinks)).catch(asNoLink(name));
    return checked(name, handle, turns);
  });
}

/** Reads a regular file as a whole. @throws as `openRegular`; resource_exhausted if it has more than `maxBytes` */
export async function readRegular(path: string, options: ReadOptions): Promise<Uint8Array<ArrayBuffer>> {
  await using file = await openRegular(path, options);
  return await file.readAll(options);
}

/** `readRegular` as one step, for what must not wait. Follows links. */
export function readRegularNow(path: string, maxBytes: number): Buffer {
  requireRegular(path, statSync(path, { bigint: true }));
  const file = openSync(path, constants.O_RDONLY | flagsFor(true));
  try {
    requireRegular(path, fstatSync(file, { bigint: true }));
    const bytes = Buffer.alloc(maxBytes + 1);
    for (let length = 0; ; ) {
      const read = readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) return bytes.subarray(0, length);
      length += read;
      if (length > maxBytes) throw tooLarge(path, undefined, maxBytes);
    }
  } finally {
    closeSync(file);
  }
}

/** What a file that is about to be replaced is like; undefined if there is none. Follows links. @throws as `openRegular` */
export async function findRegular(path: string): Promise<BigIntStats | undefined> {
  return fileTurns.run(path, async () => {
    const found = await stat(path, { bigint: true }).catch(ifMissing);
    if (found !== undefined) requireRegular(path, found);
    return found;
  });
}

/** A time of a file as messages have it. */
export function wireTime(ns: bigint): { readonly seconds: bigint; readonly nanos: number } {
  const second = 1_000_000_000n;
  const nanos = ((ns % second) + second) % second;
  return { seconds: (ns - nanos) / second, nanos: Number(nanos) };
}

/** Without blocking, and without becoming its terminal. */
function flagsFor(followsLinks: boolean): number {
  return constants.O_NONBLOCK | constants.O_NOCTTY | (followsLinks ? 0 : constants.O_NOFOLLOW);
}

/** What was opened may have replaced what was looked at. */
async function checked(path: string, handle: FileHandle, turns: FileTurns): Promise<RegularFile> {
  try {
    const stats = await handle.stat({ bigint: true });
    requireRegular(path, stats);
    return new RegularFile(path, handle, stats, turns);
  } catch (caught) {
    await handle.close();
    throw caught;
  }
}

function requireRegular(path: string, found: Kind): void {
  if (!found.isFile()) throw notRegular(path, kindOf(found));
}

function kindOf(found: Kind): string {
  if (found.isFIFO()) return 'a pipe';
  if (found.isSocket()) return 'a socket';
  if (found.isDirectory()) return 'a folder';
  return found.isSymbolicLink() ? 'a link' : 'a device';
}

function notRegular(path: string, found: string): PlatformError {
  return new PlatformError('failed_precondition', `${path}: expected a regular file, found ${found}`);
}

function asNoLink(path: string): (caught: NodeJS.ErrnoException) => never {
  return (caught) => {
    throw caught.code === 'ELOOP' ? notRegular(path, 'a link') : caught;
  };
}

function ifMissing(caught: NodeJS.ErrnoException): undefined {
  if (caught.code !== 'ENOENT') throw caught;
}

function tooLarge(path: string, found: number | undefined, maxBytes: number, limitName = ''): PlatformError {
  const limit = `${maxBytes} bytes${limitName === '' ? '' : ` (${limitName})`}`;
  return new PlatformError('resource_exhausted', `${path}: expected at most ${limit}, found ${found ?? 'more'}`);
}

function grown(bytes: Uint8Array<ArrayBuffer>, maxBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(Math.max(2 * bytes.length, 4_096), maxBytes + 1));
  larger.set(bytes);
  return larger;
}
