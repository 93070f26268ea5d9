/** Writes a SQLite file again, so that nothing stays in it that was overwritten or deleted. No one may be writing to it. */
import { openWritable } from './sqlite-file.ts';

/** Needs as much free space as the file takes. */
export function clearFreeSpace(file: string): void {
  using db = openWritable(file);
  db.exec('vacuum; pragma wal_checkpoint(truncate);');
}
