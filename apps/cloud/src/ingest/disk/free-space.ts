/**
 * I13: refuses an upload that the disk has no room for before its body is read, while there is still room to seal and truncate. The space
 * that sealing and truncation free stays in the log's file, so readings are accepted again although the disk shows no more free space than
 * before.
 */
import { statfs } from 'node:fs/promises';
import { type Clock, type Log, PlatformError } from '@platform/base';

export interface FreeSpace {
  /** Throws resource_exhausted. Checks the disk at most once a second. */
  require(): Promise<void>;
  /** As `require`, for uploads that go to the log alone: free space in the log's file counts as well. */
  requireForReadings(): Promise<void>;
}

export interface FreeSpaceDeps {
  /** Bytes that this process may still write where the log and the payloads are stored. */
  readonly freeBytes: () => Promise<number>;
  /** Files that can still be created there. */
  readonly freeInodes: () => Promise<number>;
  /** Free bytes within the log's file, which it uses before it takes more of the disk. */
  readonly reusableBytes: () => Promise<number>;
  /** Bytes acknowledged but not yet sealed: sealing and truncating them needs space. */
  readonly unsealedBytes: () => number;
  /** Starts sealing, so that the log can be truncated. */
  readonly seal: () => void;
  readonly clock: Clock;
  /** Gets refusals, at most once a minute, and the first upload that is accepted again. */
  readonly log: Log;
}

const reserveBytes = 512 * 1024 * 1024;
const freshMs = 1_000;
const warnEveryMs = 60_000;
/** Freeing disk space takes more than seconds. */
const fullDiskWaitMs = 30_000;

/** Sealing, merging and a start create some dozens of files. */
export const neededInodes = 256;

/** Space that always stays free for sealing. */
const sealingBytes = 64 * 1024 * 1024;
/** Fewer bytes are not worth an early seal. */
const leastSealedBytes = 4 * 1024 * 1024;

/** Free space below which uploads are refused. @param unsealedBytes acknowledged but not yet sealed */
export function neededForUploads(unsealedBytes: number): number {
  return Math.max(reserveBytes, 2 * unsealedBytes);
}

export function createFreeSpace(deps: FreeSpaceDeps): FreeSpace {
  const { freeBytes, freeInodes, reusableBytes, unsealedBytes, seal, clock, log } = deps;
  let known: { readonly free: number; readonly inodes: number; readonly atMs: number } | null = null;
  let shortage: { refused: number; warnedMs: number } | null = null;
  let sealedMs = Number.NEGATIVE_INFINITY;

  const admit = (free: number, needed: number): void => {
    if (shortage === null) return;
    log.info('there is space on the disk again: uploads are accepted', {
      freeBytes: free,
      neededBytes: needed,
      refusedUploads: shortage.refused,
    });
    shortage = null;
  };
  /** @param inodes given if they are what is missing */
  const refuse = (free: number, needed: number, nowMs: number, inodes?: number): void => {
    const isFirst = shortage === null;
    shortage ??= { refused: 0, warnedMs: nowMs };
    shortage.refused++;
    if (!isFirst && nowMs - shortage.warnedMs < warnEveryMs) return;
    shortage.warnedMs = nowMs;
    const { refused: refusedUploads } = shortage;
    log.warn(
      inodes === undefined
        ? 'uploads are refused because the disk of the data directory is too full: free some space or enlarge the disk; machines keep their readings and send them again by themselves'
        : 'uploads are refused because the disk of the data directory has too few free inodes: remove some files; machines keep their readings and send them again by themselves',
      inodes === undefined
        ? { freeBytes: free, neededBytes: needed, refusedUploads }
        : { freeInodes: inodes, neededInodes, refusedUploads },
    );
  };
  const makeRoom = (nowMs: number): void => {
    if (unsealedBytes() < leastSealedBytes || nowMs - sealedMs < fullDiskWaitMs) return;
    sealedMs = nowMs;
    seal();
  };
  const check = async (isForReadings: boolean): Promise<void> => {
    const now = clock.monotonic();
    if (known === null || now - known.atMs >= freshMs)
      known = { free: await freeBytes(), inodes: await freeInodes(), atMs: now };
    const { free, inodes } = known;
    const needed = neededForUploads(unsealedBytes());
    if (inodes < neededInodes) {
      refuse(free, needed, now, inodes);
      throw diskFull(
        `expected at least ${neededInodes} free inodes on the disk of the data directory, found ${inodes}: remove some files; uploads then continue by themselves`,
      );
    }
    if (free >= needed) return admit(free, needed);
    makeRoom(now);
    const canSeal = free >= Math.max(sealingBytes, 2 * unsealedBytes());
    if (isForReadings && canSeal && free + (await reusableBytes()) >= needed) return;
    refuse(free, needed, now);
    throw diskFull(
      `expected at least ${mebibytes(needed)} MiB free on the disk of the data directory, found ${mebibytes(free)} MiB: free some space; uploads then continue by themselves`,
    );
  };
  return { require: () => check(false), requireForReadings: () => check(true) };
}

/** Free bytes of the file system that holds `directory`. */
export async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Files that can still be created in the file system that holds `directory`; Infinity: it has no such limit. */
export async function freeInodesOf(directory: string): Promise<number> {
  const { files, ffree } = await statfs(directory);
  return files === 0 ? Number.POSITIVE_INFINITY : ffree;
}

function diskFull(text: string): PlatformError {
  return new PlatformError('resource_exhausted', text, undefined, { retryAfterMs: fullDiskWaitMs });
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024));
}
