/**
 * Copies the write-ahead log back into the file, after a commit was answered. SQLite's automatic checkpoint ignores errors, so that a failed
 * sync would remain unknown; it is switched off.
 */
import type { DatabaseSync } from 'node:sqlite';
import { sqliteFault } from './sqlite-fault.ts';

/** Where SQLite has no NOOP checkpoint (before 3.51), it does the work instead of counting it, so it is asked less often. */
const commitsWithoutNoop = 64;

/**
 * @returns a function to be called after each commit: checkpoints once the log has at least `bytes` that are not in the file. It throws only
 * what must end the process (I2).
 */
export function createCheckpoint(db: DatabaseSync): (bytes: number) => void {
  const pageBytes = Number(db.prepare('pragma page_size').get()?.['page_size']);
  const counting = db.prepare('pragma wal_checkpoint(noop)');
  const every = hasNoop(db) ? 1 : commitsWithoutNoop;
  let commits = 0;
  return (bytes) => {
    if (++commits % every !== 0) return;
    try {
      const { log, checkpointed } = counting.get() as Record<string, number>;
      if ((Number(log) - Number(checkpointed)) * pageBytes >= bytes) db.exec('pragma wal_checkpoint(passive)');
    } catch (caught) {
      const { kind } = sqliteFault(caught);
      // What could not be copied now stays in the log.
      if (kind !== 'full' && kind !== 'busy') throw caught;
    }
  };
}

function hasNoop(db: DatabaseSync): boolean {
  const [major = 0, minor = 0] = String(db.prepare('select sqlite_version() as version').get()?.['version'])
    .split('.')
    .map(Number);
  return major > 3 || (major === 3 && minor >= 51);
}
