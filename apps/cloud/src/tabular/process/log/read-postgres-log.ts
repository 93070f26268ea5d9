/** The child's own read-only view of an ingest log in Postgres. */
import type { Log } from '@platform/base';
import { PostgresLogReader } from '../../../ingest/postgres/postgres-log-reader.ts';
import { ingestSchema } from '../../../ingest/postgres/postgres-log-tables.ts';
import { readPostgresAddress } from '../../../metadata/postgres/postgres-address.ts';
import { createPostgresReader } from '../../../metadata/postgres/postgres-reader.ts';

export function openPostgresLogReader(database: string, log: Log): PostgresLogReader {
  return new PostgresLogReader(createPostgresReader(readPostgresAddress(database), ingestSchema, log));
}
