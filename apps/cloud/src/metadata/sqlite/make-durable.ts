/**
 * I14: makes durable what a start reads back from a SQLite file, before it is opened for anything else.
 *
 * After a failed sync, the system counts the pages as written: they are still in its memory and read well, but they are not on the disk, and
 * no later sync writes them. So everything that is read back is written once more. The write-ahead log comes first, in place: if the power
 * failed while its frames are copied into the file, the file would have pages of commits that the log on the disk does not have. Then all
 * frames are copied, and the log is empty.
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorText, failedPrecondition } from '@platform/base';
import { syncPathNow } from '../../instance/sync-path.ts';
import { sqliteFault } from './sqlite-fault.ts';

const chunkBytes = 1024 * 1024;
const busyTimeoutMs = 5_000;

export interface MakeDurableOptions {
  /** Called once if the disk is full; what it frees is used. */
  readonly makeRoom?: () => void;
}

/**
 * Does nothing if the file has no write-ahead log: then a checkpoint has synced it. On a disk that is too full to copy all frames, the rest
 * stays in the log, where it is durable.
 *
 * @throws failed_precondition if anything else fails: nothing may then be acknowledged
 */
export function makeDurable(file: string, { makeRoom }: MakeDurableOptions = {}): void {
  const log = `${file}-wal`;
  if (!existsSync(file) || (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    unlessFull(() => writeAgain(log), makeRoom);
    copyFrames(file, makeRoom);
    // Only after SQLite has closed it: closing a file releases the locks that SQLite holds on it in this process.
    syncPathNow(file);
    syncPathNow(dirname(file));
  } catch (caught) {
    throw failedPrecondition(
      `${file}: what the last run wrote cannot be made durable: ${errorText(caught)}. Nothing was changed; check the disk`,
      caught,
    );
  }
}

/** Writes the bytes of a file in place, so that the sync has something to do. */
function writeAgain(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let at = 0; ; ) {
      const length = readSync(handle, chunk, 0, chunkBytes, at);
      if (length === 0) break;
      for (let done = 0; done < length; ) done += writeSync(handle, chunk, done, length - done, at + done);
      at += length;
    }
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function copyFrames(file: string, makeRoom: (() => void) | undefined): void {
  using db = new DatabaseSync(file, { timeout: busyTimeoutMs });
  db.exec('pragma fullfsync = on; pragma checkpoint_fullfsync = on');
  try {
    unlessFull(() => checkpointAll(db), makeRoom);
  } catch (caught) {
    if (!isFull(caught)) throw caught;
  }
}

function checkpointAll(db: DatabaseSync): void {
  const { log, checkpointed } = db.prepare('pragma wal_checkpoint(truncate)').get() as Record<string, number>;
  // A reader of another process may keep the log from being emptied, not from being copied.
  if (log !== checkpointed) throw new Error(`expected all ${log} frames to be copied, found ${checkpointed}`);
}

/** Runs it once more after making room. A sync is never repeated: that a disk is full is reported by a write. */
function unlessFull(run: () => void, makeRoom: (() => void) | undefined): void {
  try {
    run();
  } catch (caught) {
    if (makeRoom === undefined || !isFull(caught)) throw caught;
    makeRoom();
    run();
  }
}

function isFull(caught: unknown): boolean {
  if (caught instanceof Error && 'code' in caught && caught.code === 'ENOSPC')
    return 'syscall' in caught && caught.syscall === 'write';
  return sqliteFault(caught).kind === 'full';
}
