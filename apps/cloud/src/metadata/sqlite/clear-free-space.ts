/** Writes a SQLite file anew, so that nothing stays in it that was overwritten or deleted. Nobody may be writing to it. */
import { openWritable } from './sqlite-file.ts';

/** Needs as much free space as the file takes. */
export function clearFreeSpace(file: string): void {
  using db = openWritable(file);
  db.exec('vacuum; pragma wal_checkpoint(truncate);');
}
