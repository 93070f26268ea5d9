/** The child's own read-only view of the ingest log: committed rows, in order (I3). */
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '@platform/base';

export interface LoggedRow {
  readonly position: number;
  /** LoggedUpload */
  readonly batch: Uint8Array;
}

/** Where the log is. */
export type LogSource = { readonly file: string } | { readonly database: string };

export interface LogReader {
  /** Rows after a position, in order: at most `rows`, about `bytes`; at least one if there is one. */
  read(after: number, limit: { readonly rows: number; readonly bytes: number }): Promise<readonly LoggedRow[]>;
}

export function openLogReader(source: LogSource, log: Log): LogReader {
  if ('file' in source) return openFileReader(source.file);
  const { database } = source;
  // Loaded only where the log is in Postgres: most installations never need its driver.
  const reader = import('./read-postgres-log.ts').then((module) => module.openPostgresLogReader(database, log));
  return { read: async (after, limit) => (await reader).read(after, limit) };
}

function openFileReader(file: string): LogReader {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('PRAGMA busy_timeout = 5000');
  const select = database.prepare('SELECT position, batch FROM log WHERE position > ? ORDER BY position LIMIT ?');
  return {
    async read(after, limit) {
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
  };
}
