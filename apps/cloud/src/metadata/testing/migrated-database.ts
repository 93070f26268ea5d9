/** One database on the Postgres server for tests that already has the tables; tests copy it, which takes half as long as creating them. */
import { createHash } from 'node:crypto';
import { silentLog, systemClock } from '@platform/base';
import type { Pool } from 'pg';
import { openMetadata } from '../open-metadata.ts';
import type { Migration } from '../sqlite/writer-protocol.ts';
import { throwUncaught } from './throw-uncaught.ts';

/** The name of the database; the first test process creates it. @param urlOf returns the URL of a database on that server. */
export async function migratedDatabase(
  administrator: Pool,
  urlOf: (database: string) => string,
  migrations: readonly Migration[],
): Promise<string> {
  const name = `migrated_${createHash('sha256').update(JSON.stringify(migrations)).digest('hex').slice(0, 16)}`;
  // The lock belongs to a connection.
  const locked = await administrator.connect();
  try {
    await locked.query('select pg_advisory_lock(1)');
    const { rows } = await locked.query('select 1 from pg_database where datname = $1', [name]);
    if (rows.length > 0) return name;
    // Left unfinished by a process that ended.
    await locked.query(`drop database if exists ${name}_unready with (force)`);
    await locked.query(`create database ${name}_unready`);
    const metadata = await openMetadata({
      clock: systemClock,
      onFatal: throwUncaught,
      file: '',
      database: urlOf(`${name}_unready`),
      migrations,
      log: silentLog,
    });
    await metadata[Symbol.asyncDispose]();
    // The server notices closed connections only a moment later.
    await locked.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [
      `${name}_unready`,
    ]);
    await locked.query(`alter database ${name}_unready rename to ${name}`);
    return name;
  } finally {
    await locked.query('select pg_advisory_unlock(1)');
    locked.release();
  }
}
