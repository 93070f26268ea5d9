/**
 * Verifies sealed files against the catalog before they are read (D33, docs/specs/integrity.md).
 *
 * States of a file: told (the expected checksums are known) → footer right → right, or damaged. The footer is verified when the file is
 * opened, the whole file when rows are read. A result holds as long as the file's device, inode, size and both times stay the same. When
 * they change, the file is read again, so that a restored file is readable again. A timestamp so recent that a later change could carry the
 * same one does not count as known.
 */
import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { type FileStamp, isSameStamp } from '../../../instance/file-stamp.ts';
import type { HeldTimes } from '../../catalog/row-filter.ts';
import { damagedFile, fileIsMissing } from '../../integrity/damaged-file.ts';
import type { ExpectedBytes, FileRef, FoundFile } from '../messages.ts';
import { StaleSnapshot } from '../query/stale-snapshot.ts';
import { blockBytes, checksumFile, crcOf, readBlock } from './checksum-file.ts';

export interface FileVerifier {
  /** Reader for one query or another task. Blocks verified before the signal's abort are not read again. */
  reader(signal?: AbortSignal): VerifiedReader;
  /** Sets the catalog's expectations of these files. */
  expect(files: readonly FileRef[]): void;
  /** Reads the whole file, whatever was found before. */
  scrub(file: FileRef, bytesPerSecond: number): Promise<FoundFile>;
  forget(files: readonly string[]): void;
}

export interface VerifiedReader {
  /**
   * Verifies the footers, which say which rows the files have.
   * @throws data_loss naming the first damaged file; MissingFile
   */
  footers(files: readonly FileRef[]): Promise<void>;
  /** Verifies these files completely. Throws as `footers`. */
  rows(paths: Iterable<string>): Promise<void>;
  /** Checks that no file that was read has changed meanwhile. @throws StaleSnapshot */
  unchanged(): void;
}

/** A listed file does not exist. */
export class MissingFile extends StaleSnapshot {
  readonly file: string;

  constructor(file: string) {
    super(`${file} does not exist: it was merged meanwhile, or is lost`);
    this.file = file;
  }
}

interface Known {
  readonly file: string;
  readonly captureDay: string;
  readonly timeReceived: HeldTimes | undefined;
  expected: ExpectedBytes;
  /** Stamp of the file that was read. */
  stamp?: FileStamp;
  /** Milliseconds since 1970 when reading began. */
  readMs: number;
  /** Which blocks have been read and were right. */
  blocks: Uint8Array;
  footerRead: boolean;
  rowsRead: boolean;
  damage?: string;
  /** Set while the file is being read; other readers wait for it. */
  reading?: Promise<void>;
}

export function createFileVerifier(options: {
  readonly parquetDir: string;
  readonly now: () => number;
  /** Waits this many milliseconds; for scrubbing. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Called when a file is found damaged, is right again, or gets its first checksum. */
  readonly report: (file: string, found: FoundFile) => void;
}): FileVerifier {
  const { parquetDir, now, sleep, report } = options;
  const known = new Map<string, Known>();

  const knownOf = (file: string): Known => {
    const found = known.get(file);
    if (found === undefined) throw new Error(`${file}: expected its checksum to be known, found none`);
    return found;
  };

  const fail = (each: Known, reason: string): never => {
    if (each.damage !== reason) report(each.file, { kind: 'damaged', reason });
    each.damage = reason;
    throw damagedFile(each, reason);
  };

  /** Undefined: earlier results no longer hold. */
  const look = (each: Known): FileStamp => {
    const stamp = lstatSync(join(parquetDir, each.file), { bigint: true, throwIfNoEntry: false });
    if (stamp === undefined) {
      delete each.stamp;
      each.damage = fileIsMissing;
      throw new MissingFile(each.file);
    }
    if (!stamp.isFile()) {
      delete each.stamp;
      fail(each, noFile(stamp));
    }
    if (each.stamp === undefined || !isSameStamp(each.stamp, stamp) || !isSettled(each.stamp, each.readMs)) {
      each.footerRead = false;
      each.rowsRead = false;
      each.blocks = new Uint8Array(Math.ceil(each.expected.bytes / blockBytes));
      delete each.stamp;
    } else if (each.damage !== undefined) throw damagedFile(each, each.damage);
    return stamp;
  };

  const verify = async (each: Known, wanted: 'footer' | 'rows', signal: AbortSignal | undefined): Promise<void> => {
    for (;;) {
      signal?.throwIfAborted();
      if (each.reading !== undefined) {
        await each.reading.catch(() => {});
        continue;
      }
      const stamp = look(each);
      if (wanted === 'footer' ? each.footerRead : each.rowsRead) return;
      each.reading = read(each, stamp, wanted, signal);
      try {
        await each.reading;
      } finally {
        delete each.reading;
      }
      return;
    }
  };

  const read = async (
    each: Known,
    stamp: FileStamp,
    wanted: 'footer' | 'rows',
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const { expected } = each;
    // A damaged file is right again only as a whole.
    const isWhole = wanted === 'rows' || expected.blockCrcs === null || each.damage !== undefined;
    if (each.stamp === undefined) {
      each.stamp = stamp;
      each.readMs = now();
    }
    if (Number(stamp.size) !== expected.bytes) fail(each, `it has ${stamp.size} bytes instead of ${expected.bytes}`);
    if (expected.blockCrcs === null) await learn(each, signal);
    else {
      await using file = await openStamped(each, stamp);
      if (isWhole) await readBlocks(each, file, 0, signal);
      else await readFooter(each, file, signal);
    }
    if (each.damage !== undefined) {
      delete each.damage;
      report(each.file, { kind: 'right' });
    }
    each.footerRead = true;
    if (isWhole) each.rowsRead = true;
  };

  /** For a file of an earlier version: its current content becomes the expected one. */
  const learn = async (each: Known, signal: AbortSignal | undefined): Promise<void> => {
    const pause = async (): Promise<void> => signal?.throwIfAborted();
    const { bytes, ...checksum } = await checksumFile(join(parquetDir, each.file), pause);
    each.expected = { bytes, ...checksum };
    report(each.file, { kind: 'right', checksum });
  };

  const openStamped = async (each: Known, stamp: FileStamp): Promise<FileHandle> => {
    const file = await open(join(parquetDir, each.file), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
      ({ code = 'unknown' }: NodeJS.ErrnoException): never => {
        if (code === 'ENOENT' || code === 'ELOOP') throw new StaleSnapshot(`${each.file} changed meanwhile`);
        if (code === 'EIO' || code === 'EACCES') return fail(each, `it cannot be opened: ${code}`);
        delete each.stamp;
        throw new PlatformError(
          'unavailable',
          `the sealed file ${each.file} cannot be opened now (${code}); try again`,
        );
      },
    );
    if (isSameStamp(stamp, await file.stat({ bigint: true }))) return file;
    await file.close();
    delete each.stamp;
    throw new StaleSnapshot(`${each.file} changed meanwhile`);
  };

  const readFooter = async (each: Known, file: FileHandle, signal: AbortSignal | undefined): Promise<void> => {
    const { bytes } = each.expected;
    await readBlocks(each, file, each.blocks.length - 1, signal);
    const end = Buffer.alloc(8);
    if (bytes < 12 || (await readBlock(file, end, bytes - 8)) < 8) fail(each, 'it is too short');
    const footer = bytes - 8 - end.readUInt32LE(0);
    await readBlocks(each, file, Math.max(0, Math.floor(footer / blockBytes)), signal);
  };

  /** Reads from a block to the end. */
  const readBlocks = async (
    each: Known,
    file: FileHandle,
    from: number,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const block = Buffer.allocUnsafe(Math.min(blockBytes, each.expected.bytes));
    const wrong: number[] = [];
    for (let at = from; at < each.blocks.length; at++) {
      if (each.blocks[at] === 1) continue;
      signal?.throwIfAborted();
      let read: number;
      try {
        read = await readBlock(file, block, at * blockBytes);
      } catch {
        // An unreadable block counts as wrong.
        wrong.push(at);
        continue;
      }
      if (crcOf(block.subarray(0, read)) === each.expected.blockCrcs?.slice(8 * at, 8 * at + 8)) each.blocks[at] = 1;
      else wrong.push(at);
    }
    if (wrong.length > 0) fail(each, placesOf(wrong, each.expected.bytes));
  };

  return {
    expect(files) {
      for (const { file, captureDay, timeReceived, expected } of files) {
        if (expected === undefined) continue;
        const before = known.get(file);
        // The catalog row got its checksum since, or was repaired.
        if (before !== undefined && before.expected.bytes === expected.bytes && expected.blockCrcs === null) continue;
        if (before !== undefined && isSameChecksum(before.expected, expected)) continue;
        const blocks = new Uint8Array(Math.ceil(expected.bytes / blockBytes));
        known.set(file, {
          ...{ file, captureDay, timeReceived, expected },
          ...{ readMs: 0, blocks, footerRead: false, rowsRead: false },
        });
      }
    },
    reader(signal) {
      const used = new Map<Known, FileStamp>();
      const verifyAll = async (all: Iterable<Known>, wanted: 'footer' | 'rows'): Promise<void> => {
        for (const each of all) {
          // Verified a moment ago; changes since then are checked at the end.
          if (each.rowsRead && each.stamp !== undefined && used.get(each) === each.stamp) continue;
          await verify(each, wanted, signal);
          if (each.stamp !== undefined && !used.has(each)) used.set(each, each.stamp);
        }
      };
      return {
        async footers(files) {
          await verifyAll(
            files.map(({ file }) => knownOf(file)),
            'footer',
          );
        },
        async rows(paths) {
          const files = [...new Set(paths)].map((path) => knownOf(path.slice(path.lastIndexOf('/') + 1)));
          await verifyAll(files, 'rows');
        },
        unchanged() {
          for (const [{ file }, stamp] of used) {
            const found = lstatSync(join(parquetDir, file), { bigint: true, throwIfNoEntry: false });
            if (found === undefined || !isSameStamp(found, stamp))
              throw new StaleSnapshot(`${file} changed while it was being read`);
          }
        },
      };
    },
    async scrub(ref, bytesPerSecond) {
      this.expect([ref]);
      const each = knownOf(ref.file);
      const path = join(parquetDir, each.file);
      const stamp = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (stamp === undefined) return { kind: 'missing' };
      if (!stamp.isFile()) return { kind: 'damaged', reason: noFile(stamp) };
      const readMs = now();
      const { expected } = each;
      let found: Awaited<ReturnType<typeof checksumFile>>;
      try {
        found = await checksumFile(path, (bytes) => sleep((bytes / bytesPerSecond) * 1_000));
      } catch (caught) {
        const { code = 'unknown' } = caught as NodeJS.ErrnoException;
        return code === 'EIO' || code === 'EACCES'
          ? { kind: 'damaged', reason: `it cannot be read: ${code}` }
          : { kind: 'unknown', reason: code };
      }
      const after = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (after === undefined || !isSameStamp(stamp, after)) return { kind: 'unknown', reason: 'it changed meanwhile' };
      const { bytes, ...checksum } = found;
      const reason =
        bytes !== expected.bytes
          ? `it has ${bytes} bytes instead of ${expected.bytes}`
          : expected.blockCrcs !== null && expected.sha256 !== checksum.sha256
            ? placesOf(differing(expected.blockCrcs, checksum.blockCrcs), bytes)
            : undefined;
      each.stamp = stamp;
      each.readMs = readMs;
      each.blocks.fill(reason === undefined ? 1 : 0);
      each.footerRead = each.rowsRead = reason === undefined;
      if (reason !== undefined) {
        each.damage = reason;
        return { kind: 'damaged', reason };
      }
      delete each.damage;
      if (expected.blockCrcs !== null) return { kind: 'right' };
      each.expected = found;
      return { kind: 'right', checksum };
    },
    forget(files) {
      for (const file of files) known.delete(file);
    },
  };
}

function noFile(stamp: { isSymbolicLink(): boolean }): string {
  return stamp.isSymbolicLink() ? 'a symbolic link is in its place' : 'something other than a file is in its place';
}

/** File times have the resolution of the system's clock ticks, or of whole seconds. */
function isSettled({ ctimeNs }: FileStamp, readMs: number): boolean {
  const tickMs = ctimeNs % 1_000_000n === 0n ? 2_000 : 50;
  return Math.abs(readMs - Number(ctimeNs / 1_000_000n)) > tickMs;
}

function isSameChecksum(a: ExpectedBytes, b: ExpectedBytes): boolean {
  return a.bytes === b.bytes && a.sha256 === b.sha256 && a.blockCrcs === b.blockCrcs;
}

/** Numbers of the blocks whose checksums differ. */
function differing(expected: string, found: string): number[] {
  const blocks = Array.from({ length: expected.length / 8 }, (_, at) => at);
  return blocks.filter((at) => expected.slice(8 * at, 8 * at + 8) !== found.slice(8 * at, 8 * at + 8));
}

function placesOf(wrong: readonly number[], bytes: number): string {
  const [first = 0] = wrong;
  const range = `bytes ${first * blockBytes} to ${Math.min(bytes, (first + 1) * blockBytes) - 1}`;
  return wrong.length === 1
    ? `${range} differ from those that were written`
    : `${wrong.length} of its blocks differ from those that were written, the first at ${range}`;
}
