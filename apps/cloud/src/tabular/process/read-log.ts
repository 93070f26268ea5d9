/** The child's own read-only view of the ingest log: committed rows, in order (I3). */
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '@platform/base';
import { PostgresLogReader } from '../../ingest/postgres-log-reader.ts';
import { ingestSchema } from '../../ingest/postgres-log-tables.ts';
import { readPostgresAddress } from '../../metadata/postgres-address.ts';
import { createPostgresReader } from '../../metadata/postgres-reader.ts';

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
  return 'file' in source ? openFileReader(source.file) : openPostgresReader(source.database, log);
}

function openPostgresReader(database: string, log: Log): LogReader {
  return new PostgresLogReader(createPostgresReader(readPostgresAddress(database), ingestSchema, log));
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
