/** The child's own read-only view of the ingest log: committed rows, in order (I3). */
import { DatabaseSync } from 'node:sqlite';

export interface LoggedRow {
  readonly position: number;
  /** LoggedUpload */
  readonly batch: Uint8Array;
}

export interface LogReader extends Disposable {
  /** Rows after a position, in order: at most `rows`, and no more once `bytes` are reached; at least one if there is one. */
  read(after: number, limit: { readonly rows: number; readonly bytes: number }): LoggedRow[];
}

export function openLogReader(file: string): LogReader {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('PRAGMA busy_timeout = 5000');
  const select = database.prepare('SELECT position, batch FROM log WHERE position > ? ORDER BY position LIMIT ?');
  return {
    read(after, limit) {
      const rows: LoggedRow[] = [];
      let bytes = 0;
      for (const row of select.iterate(after, limit.rows)) {
        const { position, batch } = row as unknown as LoggedRow;
        rows.push({ position, batch });
        bytes += batch.length;
        if (bytes >= limit.bytes) break;
      }
      return rows;
    },
    [Symbol.dispose]: () => database.close(),
  };
}
