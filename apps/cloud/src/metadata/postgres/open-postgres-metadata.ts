/** Opens the metadata in Postgres: schema `meta` of one database, held by one cloud at a time. */
import type { ClockAndLog } from '@platform/base';
import { Kysely } from 'kysely';
import { claimInstallation } from '../claim-installation.ts';
import { checkedTablesOf } from '../row-checks/checked-tables-of.ts';
import { fillRowChecks } from '../row-checks/fill-row-checks.ts';
import { watchPostgresRows } from '../row-checks/postgres-triggers.ts';
import type { Migration } from '../sqlite/writer-protocol.ts';
import { type LockDatabaseOptions, lockDatabase } from './lock-database.ts';
import { readPostgresAddress } from './postgres-address.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { migratePostgres } from './postgres-migrate.ts';
import { createPostgresReader } from './postgres-reader.ts';
import { PostgresWriter } from './postgres-writer.ts';

export interface PostgresMetadataOptions extends ClockAndLog, Pick<LockDatabaseOptions, 'onFatal' | 'serverWaitMs'> {
  /** `postgres://…` */
  readonly database: string;
  /** In ascending order; those above the file's version are applied in one transaction. */
  readonly migrations: readonly Migration[];
  /** File in the data directory that names its database. Absent: any database is accepted. */
  readonly installationFile?: string | undefined;
  /** Called while the database is locked, before its tables change. */
  readonly beforeMigration?: (() => Promise<void>) | undefined;
}

const schema = 'meta';

/**
 * Throws unavailable if there is no server after waiting. Throws failed_precondition at once if the schema is newer, another cloud holds
 * the database, or the server refuses the connection.
 */
export async function openPostgresMetadata<Tables>(
  options: PostgresMetadataOptions,
): Promise<AsyncDisposable & { readonly db: Kysely<Tables> }> {
  const { database, migrations, log, onFatal, clock, installationFile, serverWaitMs } = options;
  const address = readPostgresAddress(database);
  await using unwind = new AsyncDisposableStack();
  unwind.use(await lockDatabase({ address, clock, log, onFatal, ...(serverWaitMs !== undefined && { serverWaitMs }) }));
  await options.beforeMigration?.();
  const reader = unwind.use(createPostgresReader(address, schema, log));
  const writer = unwind.use(new PostgresWriter({ address, schema, lockKey: 1, clock, log, onFatal }));
  await migratePostgres(reader, writer, schema, migrations);
  const checked = checkedTablesOf(migrations);
  await writer.inTransaction((transaction) => watchPostgresRows(transaction, checked));
  if (installationFile !== undefined) await claimInstallation(writer, installationFile);
  const db = new Kysely<Tables>({ dialect: postgresDialect(reader, writer) });
  unwind.defer(() => db.destroy());
  await fillRowChecks(db, checked, 'postgres', log);
  const running = unwind.move();
  return { db, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
