/**
 * The tables of the ingest log in Postgres: those of ingest.sqlite, in schema `ingest`, and one more:
 *
 * log_state  one row with the last assigned position; a sequence would leave gaps, because a rollback does not return its values (I3)
 */
import { baselineVersion } from '../../metadata/baseline-version.ts';
import type { Migration } from '../../metadata/sqlite/writer-protocol.ts';
import { ingestMigrations } from '../log/log-tables.ts';

const postgresOnly: Readonly<Record<number, readonly string[]>> = {
  [baselineVersion]: [
    'create table log_state (only_row boolean primary key default true check (only_row), last_position bigint not null)',
    'insert into log_state (last_position) values (0)',
    // Readings are already compact: trying to compress them only takes time.
    'alter table log alter column batch set storage external',
    'alter table conflicts alter column batch set storage external',
  ],
};

export const postgresIngestMigrations: readonly Migration[] = ingestMigrations.map((migration) => ({
  ...migration,
  postgresOnly: postgresOnly[migration.version] ?? [],
}));

export const ingestSchema = 'ingest';
