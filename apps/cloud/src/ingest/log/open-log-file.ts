/** Opens ingest.sqlite for its single writer; creates or upgrades it if necessary. SQLite recovers from a crash here. */
import type { DatabaseSync } from 'node:sqlite';
import { createCheckpoint } from '../../metadata/sqlite/checkpoint.ts';
import { migrate } from '../../metadata/sqlite/migrate.ts';
import { openWritable } from '../../metadata/sqlite/sqlite-file.ts';
import { Appender } from './appender.ts';
import { LogMaintenance } from './log-maintenance.ts';
import type { LogOpened } from './log-protocol.ts';
import { ingestMigrations } from './log-tables.ts';

export interface LogFile {
  readonly db: DatabaseSync;
  readonly appender: Appender;
  /** After a commit: checkpoints the write-ahead log into the file when necessary. Throws what must end the process (I2). */
  checkpoint(isIdle: boolean): void;
  /** State found when the file was opened. */
  readonly state: LogOpened;
}

// Measured with batches of 130 kB: pages of 16 KiB are freed twice as fast as pages of 4 KiB. A longer checkpoint only delays the appends
// after it (32 MiB: 120 ms, 4 MiB: 15 ms) without raising the throughput.
const pageBytes = 16_384;
const checkpointBytes = 4 * 1024 * 1024;
/** If uploads arrive without a pause, those after a checkpoint wait longer. */
const latestCheckpointBytes = 2 * checkpointBytes;

const positions = `
  select coalesce((select seq from sqlite_sequence where name = 'log'), 0) as given,
    max(coalesce((select max(position) from log), 0), coalesce((select max(position) from dedup), 0)) as seen`;

export function openLogFile(file: string): LogFile {
  const db = openWritable(file, { pageBytes, checkpointBytes: latestCheckpointBytes });
  migrate(db, ingestMigrations, file);
  // The sequence includes positions removed by truncation. If the tables know a higher position, that one is used, so that none is reused
  // (I3).
  const { given, seen } = db.prepare(positions).get() as { given: number; seen: number };
  const lastPosition = Math.max(given, seen);
  if (lastPosition > given) new LogMaintenance(db).resumeAfter(lastPosition);
  const bytes = db.prepare('select sum(length(batch)) as bytes from log').get()?.['bytes'];
  const state = { lastPosition, retainedBytes: Number(bytes ?? 0) };
  const checkpoint = createCheckpoint(db);
  return {
    db,
    appender: new Appender(db),
    state,
    checkpoint: (isIdle) => checkpoint(isIdle ? checkpointBytes : latestCheckpointBytes),
  };
}
