/**
 * Opens the metadata: everything except readings. In SQLite (meta.sqlite), reads run on the caller's thread, and writes on a single
 * writer thread with group commit (I2). Alternatively, all of it is in Postgres.
 */
import type { ClockAndLog } from '@platform/base';
import { Kysely } from 'kysely';
import type { PostgresMetadataOptions } from './postgres/open-postgres-metadata.ts';
import { checkedTablesOf } from './row-checks/checked-tables-of.ts';
import { fillRowChecks } from './row-checks/fill-row-checks.ts';
import { sqliteThreadDialect } from './sqlite/dialect.ts';
import { openWriter } from './sqlite/writer.ts';
import type { CloudTables } from './tables.ts';

export interface MetadataOptions extends ClockAndLog, Pick<PostgresMetadataOptions, 'migrations'> {
  /** Used with SQLite. */
  readonly file: string;
  /** `postgres://…`: the file is then not used. Default: SQLite. */
  readonly database?: string | undefined;
  /** Used with Postgres: names the database that belongs to the data directory. Absent: any database is accepted. */
  readonly installationFile?: string;
  /** Used with Postgres: called once no other cloud can use the database, before its tables change. */
  readonly beforeMigration?: (() => Promise<void>) | undefined;
  /** Called when a disk write fails: nothing more may be acknowledged, and the process must exit (I2). */
  readonly onFatal: (error: Error) => void;
}

export interface Metadata<Tables = CloudTables> extends AsyncDisposable {
  readonly db: Kysely<Tables>;
}

/** Throws failed_precondition if the file was written by a newer version or is not a database, or another cloud holds the database. */
export async function openMetadata<Tables = CloudTables>(options: MetadataOptions): Promise<Metadata<Tables>> {
  const { file, database, migrations, log, onFatal } = options;
  if (database !== undefined) {
    // Loaded on demand: an installation on SQLite never needs the driver's code and memory.
    const { openPostgresMetadata } = await import('./postgres/open-postgres-metadata.ts');
    return openPostgresMetadata<Tables>({ ...options, database });
  }
  const writer = await openWriter({ file, migrations, log, onFatal });
  const dialect = sqliteThreadDialect(file, writer, onFatal);
  const db = new Kysely<Tables>({ dialect });
  await fillRowChecks(db, checkedTablesOf(migrations), 'sqlite', log);
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db.destroy();
      await writer[Symbol.asyncDispose]();
    },
  };
}
