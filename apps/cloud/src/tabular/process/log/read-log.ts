/** The child's own read-only view of the ingest log: committed rows, in order (I3). */
import type { Log } from '@platform/base';
import type { LogDamage, ReadLimit } from '../../../ingest/log/log.ts';
import { LogReader as FileReader } from '../../../ingest/log/log-reader.ts';

export interface LoggedRow {
  readonly position: number;
  /** LoggedUpload; empty where the row is damaged, which decodes as an upload without readings. */
  readonly batch: Uint8Array;
  readonly damage?: LogDamage | undefined;
}

/** Location of the log. */
export type LogSource = { readonly file: string } | { readonly database: string };

export interface LogReader {
  /** Rows after a position, in order: at most `rows`, about `bytes`, and at least one if there is one. */
  read(after: number, limit: ReadLimit): Promise<readonly LoggedRow[]>;
}

/** @param onDamage called with unreadable rows before the rows are returned; these appear as empty rows (I8) */
export function openLogReader(source: LogSource, log: Log, onDamage: (damage: LogDamage) => void): LogReader {
  const opened = openReader(source, log);
  return {
    async read(after, limit) {
      const rows = await (await opened).follow(after, limit);
      for (const { damage } of rows) if (damage !== undefined) onDamage(damage);
      return rows;
    },
  };
}

async function openReader(source: LogSource, log: Log) {
  if ('file' in source) return new FileReader(source.file);
  // Loaded only if the log is in Postgres: most installations never need its driver.
  const { openPostgresLogReader } = await import('./read-postgres-log.ts');
  return openPostgresLogReader(source.database, log);
}
