/**
 * One sealed file and what is known about it: expected (its checksums are known) → footer right → right, or damaged.
 *
 * A result holds as long as the file's device, inode, size and both times do not change. When they change, the file is read again, so that
 * a restored file is readable again. A timestamp is trusted only if it is old enough that a later change could not have the same one.
 */
import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { unavailable } from '@platform/base';
import { type FileStamp, isSameStamp } from '../../../instance/file-stamp.ts';
import type { HeldTimes } from '../../catalog/row-filter.ts';
import { damagedFile, fileIsMissing } from '../../integrity/damaged-file.ts';
import type { ExpectedBytes, FoundFile } from '../messages.ts';
import { StaleSnapshot } from '../query/stale-snapshot.ts';
import { crcAt, differing, notAFile, placesOf, sizeDiffers } from './block-places.ts';
import { blockBytes, checksumFile, crcOf, readBlock } from './checksum-file.ts';

/** A listed file does not exist. */
export class MissingFile extends StaleSnapshot {
  readonly file: string;

  constructor(file: string) {
    super(`${file} does not exist: it was merged meanwhile, or is lost`);
    this.file = file;
  }
}

/** The catalog row of a file, and what is needed to read it. */
export interface CheckedFileOptions {
  readonly parquetDir: string;
  readonly file: string;
  readonly captureDay: string;
  readonly timeReceived: HeldTimes | undefined;
  readonly expected: ExpectedBytes;
  readonly now: () => number;
  /** Called when the file is found damaged, or is right again. */
  readonly report: (file: string, found: FoundFile) => void;
}

export class CheckedFile {
  readonly file: string;
  readonly captureDay: string;
  readonly timeReceived: HeldTimes | undefined;
  readonly expected: ExpectedBytes;
  /** Stamp of the file that was read. */
  stamp: FileStamp | undefined;
  readonly #path: string;
  readonly #now: () => number;
  readonly #report: (found: FoundFile) => void;
  /** Milliseconds since 1970 when reading began. */
  #readMs = 0;
  /** Which blocks have been read and were right. */
  #blocks: Uint8Array;
  #isFooterRight = false;
  #isRight = false;
  #damage: string | undefined;
  /** The damage is only that it could not be opened or read: the next reader tries again. */
  #isUnreadable = false;
  /** Set while the file is being read; other readers wait for it. */
  #reading: Promise<void> | undefined;

  constructor({ parquetDir, file, captureDay, timeReceived, expected, now, report }: CheckedFileOptions) {
    this.file = file;
    this.captureDay = captureDay;
    this.timeReceived = timeReceived;
    this.#path = join(parquetDir, file);
    this.#now = now;
    this.#report = (found) => report(file, found);
    this.expected = expected;
    this.#blocks = noBlocks(expected);
  }

  /** Whether all its blocks were right when they were read. */
  get isRight(): boolean {
    return this.#isRight;
  }

  /** @throws data_loss if it is damaged; MissingFile; StaleSnapshot */
  async verify(wanted: 'footer' | 'rows', signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#reading !== undefined) {
        await this.#reading.catch(() => {});
        continue;
      }
      const stamp = this.#look();
      if (wanted === 'footer' ? this.#isFooterRight : this.#isRight) return;
      this.#reading = this.#read(stamp, wanted, signal);
      try {
        await this.#reading;
      } finally {
        this.#reading = undefined;
      }
      return;
    }
  }

  /** Reads the whole file, regardless of earlier results. @param pause called with the bytes of each block */
  async scrub(pause: (bytes: number) => Promise<void>): Promise<FoundFile> {
    const stamp = this.#stampNow();
    if (stamp === undefined) return { kind: 'missing' };
    if (!stamp.isFile()) return { kind: 'damaged', reason: notAFile(stamp) };
    const readMs = this.#now();
    const expected = this.expected;
    let found: Awaited<ReturnType<typeof checksumFile>>;
    try {
      found = await checksumFile(this.#path, pause);
    } catch (caught) {
      const { code = 'unknown' } = caught as NodeJS.ErrnoException;
      return isBroken(code)
        ? { kind: 'damaged', reason: `it cannot be read: ${code}` }
        : { kind: 'unknown', reason: code };
    }
    const after = this.#stampNow();
    if (after === undefined || !isSameStamp(stamp, after)) return { kind: 'unknown', reason: 'it changed meanwhile' };
    const reason = differenceOf(expected, found);
    this.stamp = stamp;
    this.#readMs = readMs;
    this.#blocks.fill(reason === undefined ? 1 : 0);
    this.#isFooterRight = this.#isRight = reason === undefined;
    this.#damage = reason;
    this.#isUnreadable = false;
    if (reason !== undefined) return { kind: 'damaged', reason };
    return { kind: 'right' };
  }

  /** @throws StaleSnapshot if the file is no longer the one that was read */
  unchangedSince(stamp: FileStamp): void {
    const found = this.#stampNow();
    if (found === undefined || !isSameStamp(found, stamp))
      throw new StaleSnapshot(`${this.file} changed while it was being read`);
  }

  #stampNow() {
    return lstatSync(this.#path, { bigint: true, throwIfNoEntry: false });
  }

  #fail(reason: string, isUnreadable = false): never {
    this.#isUnreadable = isUnreadable;
    if (this.#damage !== reason) this.#report({ kind: 'damaged', reason });
    this.#damage = reason;
    throw damagedFile(this, reason);
  }

  /** Discards earlier results if they no longer hold. */
  #look(): FileStamp {
    const stamp = this.#stampNow();
    if (stamp === undefined) {
      this.stamp = undefined;
      this.#damage = fileIsMissing;
      throw new MissingFile(this.file);
    }
    if (!stamp.isFile()) {
      this.stamp = undefined;
      this.#fail(notAFile(stamp));
    }
    if (this.stamp === undefined || !isSameStamp(this.stamp, stamp) || !isSettled(this.stamp, this.#readMs)) {
      this.#isFooterRight = false;
      this.#isRight = false;
      this.#blocks = noBlocks(this.expected);
      this.stamp = undefined;
    } else if (this.#damage !== undefined && !this.#isUnreadable) throw damagedFile(this, this.#damage);
    return stamp;
  }

  async #read(stamp: FileStamp, wanted: 'footer' | 'rows', signal: AbortSignal | undefined): Promise<void> {
    const { bytes } = this.expected;
    // A damaged file is only right again as a whole.
    const isWhole = wanted === 'rows' || this.#damage !== undefined;
    if (this.stamp === undefined) {
      this.stamp = stamp;
      this.#readMs = this.#now();
    }
    if (Number(stamp.size) !== bytes) this.#fail(sizeDiffers(stamp.size, bytes));
    {
      await using file = await this.#openStamped(stamp);
      if (isWhole) await this.#readBlocks(file, 0, signal);
      else await this.#readFooter(file, signal);
    }
    if (this.#damage !== undefined) {
      this.#damage = undefined;
      this.#report({ kind: 'right' });
    }
    this.#isFooterRight = true;
    if (isWhole) this.#isRight = true;
  }

  async #openStamped(stamp: FileStamp): Promise<FileHandle> {
    const file = await open(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
      ({ code = 'unknown' }: NodeJS.ErrnoException): never => {
        if (code === 'ENOENT' || code === 'ELOOP') throw new StaleSnapshot(`${this.file} changed meanwhile`);
        if (isBroken(code)) return this.#fail(`it cannot be opened: ${code}`, true);
        this.stamp = undefined;
        const text = `the sealed file ${this.file} cannot be opened now (${code}); try again`;
        throw unavailable(text);
      },
    );
    if (isSameStamp(stamp, await file.stat({ bigint: true }))) return file;
    await file.close();
    this.stamp = undefined;
    throw new StaleSnapshot(`${this.file} changed meanwhile`);
  }

  async #readFooter(file: FileHandle, signal: AbortSignal | undefined): Promise<void> {
    const { bytes } = this.expected;
    await this.#readBlocks(file, this.#blocks.length - 1, signal);
    const end = Buffer.alloc(8);
    const read = await readBlock(file, end, bytes - 8).catch(() => undefined);
    if (read === undefined) this.#fail('it cannot be read', true);
    if (bytes < 12 || read < 8) this.#fail('it is too short');
    const footer = bytes - 8 - end.readUInt32LE(0);
    await this.#readBlocks(file, Math.max(0, Math.floor(footer / blockBytes)), signal);
  }

  /** Reads from a block to the end. */
  async #readBlocks(file: FileHandle, from: number, signal: AbortSignal | undefined): Promise<void> {
    const { bytes, blockCrcs } = this.expected;
    const block = Buffer.allocUnsafe(Math.min(blockBytes, bytes));
    const wrong: number[] = [];
    let unreadable = 0;
    for (let at = from; at < this.#blocks.length; at++) {
      if (this.#blocks[at] === 1) continue;
      signal?.throwIfAborted();
      // An unreadable block is treated as wrong.
      const read = await readBlock(file, block, at * blockBytes).catch(() => undefined);
      if (read === undefined) unreadable++;
      if (read !== undefined && crcOf(block.subarray(0, read)) === crcAt(blockCrcs, at)) this.#blocks[at] = 1;
      else wrong.push(at);
    }
    if (wrong.length > 0) this.#fail(placesOf(wrong, bytes), unreadable === wrong.length);
  }
}

function noBlocks({ bytes }: ExpectedBytes): Uint8Array {
  return new Uint8Array(Math.ceil(bytes / blockBytes));
}

/** Whether the error means that the file cannot be read any more. */
function isBroken(code: string): boolean {
  return code === 'EIO' || code === 'EACCES';
}

/** File times have the resolution of the system's clock ticks, or of whole seconds. */
function isSettled({ ctimeNs }: FileStamp, readMs: number): boolean {
  const tickMs = ctimeNs % 1_000_000n === 0n ? 2_000 : 50;
  return Math.abs(readMs - Number(ctimeNs / 1_000_000n)) > tickMs;
}

function differenceOf(expected: ExpectedBytes, found: ExpectedBytes): string | undefined {
  if (found.bytes !== expected.bytes) return sizeDiffers(found.bytes, expected.bytes);
  if (expected.sha256 === found.sha256) return undefined;
  return placesOf(differing(expected.blockCrcs, found.blockCrcs), found.bytes);
}
