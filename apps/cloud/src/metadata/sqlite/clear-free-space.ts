/** Rewrites a SQLite file, so that it no longer contains overwritten or deleted data. No one may be writing to it. */
import { DatabaseSync } from 'node:sqlite';

const busyTimeoutMs = 5_000;

/** Needs as much free space as the file's size. */
export function clearFreeSpace(file: string): void {
  // The writer has the file open: `openWritable` is only for a file that nobody has open.
  using db = new DatabaseSync(file, { timeout: busyTimeoutMs });
  db.exec(`
    pragma synchronous = full;
    pragma fullfsync = on;
    pragma checkpoint_fullfsync = on;
    pragma wal_autocheckpoint = 0;
    pragma temp_store = memory;
    vacuum;
    pragma wal_checkpoint(truncate);
  `);
}
