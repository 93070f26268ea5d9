/**
 * Opens every SQLite file of the cloud in the same way: write-ahead log, a sync for each commit (I2), readers that never block the
 * writer.
 */
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncPathNow } from '../../instance/sync-path.ts';
import { makeDurable } from './make-durable.ts';

const busyTimeoutMs = 5_000;

export interface WritableOptions {
  /** Page size of a new file; larger pages make large rows cheaper to write and to free. */
  readonly pageBytes?: number;
  /** Size of the write-ahead log at which the writer copies it back into the file (checkpoint.ts). */
  readonly checkpointBytes?: number;
}

export const defaultCheckpointBytes: number = 4 * 1024 * 1024;

/** The only handle that writes. The caller ensures that there is one per file, and opens it before all others (I14). */
export function openWritable(file: string, options: WritableOptions = {}): DatabaseSync {
  const { pageBytes = 4_096, checkpointBytes = defaultCheckpointBytes } = options;
  makeDurable(file);
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: busyTimeoutMs });
  db.exec(`
    pragma page_size = ${pageBytes};
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma fullfsync = on;
    pragma checkpoint_fullfsync = on;
    pragma foreign_keys = on;
    pragma wal_autocheckpoint = 0;
    pragma journal_size_limit = ${checkpointBytes * 4};
    pragma temp_store = memory;
    begin immediate;
    commit;
  `);
  // The empty transaction has created the write-ahead log. SQLite syncs its name with its first commit, but ignores if that fails.
  syncPathNow(dirname(file));
  return db;
}

/** A read-only handle; each statement sees the last commit. */
export function openReadable(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  db.exec('pragma query_only = on; pragma temp_store = memory;');
  return db;
}
