/** Rewrites a SQLite file, so that it no longer contains overwritten or deleted data. No one may be writing to it. */
import { openWritable } from './sqlite-file.ts';

/** Needs as much free space as the file's size. */
export function clearFreeSpace(file: string): void {
  using db = openWritable(file);
  db.exec('vacuum; pragma wal_checkpoint(truncate);');
}
