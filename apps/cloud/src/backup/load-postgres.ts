/**
 * Fills an empty Postgres database from the tables of a backup, in one transaction: nothing is visible until it commits.
 *
 * The schemas are created as in the backup's version; a start upgrades them. Rows are sent as JSON, many per statement, and Postgres parses
 * each value from the text that it wrote itself.
 */
import { dataLoss, errorText, failedPrecondition, PlatformError, unavailable } from '@platform/base';
import type { Client } from 'pg';
import { ingestSchema, postgresIngestMigrations } from '../ingest/postgres/postgres-log-tables.ts';
import { installationTable } from '../metadata/claim-installation.ts';
import { migrations } from '../metadata/migrations.ts';
import { databaseLockKey } from '../metadata/postgres/lock-database.ts';
import { readPostgresAddress } from '../metadata/postgres/postgres-address.ts';
import { connectPostgres } from '../metadata/postgres/postgres-connection.ts';
import { isConnectionLost, postgresError } from '../metadata/postgres/postgres-fault.ts';
import { migrateSchema } from '../metadata/postgres/postgres-migrate.ts';
import { lockClass } from '../metadata/postgres/postgres-writer.ts';
import type { Migration } from '../metadata/sqlite/writer-protocol.ts';
import { quoted, schemas } from './copy/copy-postgres.ts';
import type { Manifest } from './manifest.ts';
import type { BackedUpTable } from './read-tables.ts';
import { insertFiller, restoredEntry, type Statement } from './resume-after-restore.ts';

export interface LoadOptions {
  /** `postgres://…` */
  readonly database: string;
  readonly tables: readonly BackedUpTable[];
  readonly manifest: Manifest;
  /** A new id: the database belongs only to the restored directory. */
  readonly installation: string;
  /** The log continues after this position. */
  readonly lastPosition: number;
  readonly nowMs: number;
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Characters per statement. A larger row is sent alone. */
const characters = 4 * 1024 * 1024;
const rowsAtOnce = 5_000;

/** @throws failed_precondition if the database already has tables of a cloud; after any error nothing has changed */
export async function loadPostgres(options: LoadOptions): Promise<void> {
  const { database, signal } = options;
  const address = readPostgresAddress(database);
  const failed = (caught: unknown): PlatformError => {
    signal.throwIfAborted();
    return postgresError(caught, 'the restore', address.shown);
  };
  const client = await connectPostgres(address, 'meta', () => {}).catch((caught) => {
    throw failed(caught);
  });
  const end = (): void => void client.end().catch(() => {});
  signal.addEventListener('abort', end, { once: true });
  try {
    await client.query('begin');
    await fill(client, address.shown, options);
    await commit(client, address.shown);
  } catch (caught) {
    throw failed(caught);
  } finally {
    signal.removeEventListener('abort', end);
    await client.end().catch(() => {});
  }
}

async function fill(client: Client, shown: string, options: LoadOptions): Promise<void> {
  const { tables, manifest, installation, lastPosition, nowMs, progress, signal } = options;
  await requireEmpty(client, shown);
  await makeSchema(client, ingestSchema, postgresIngestMigrations, manifest.ingestVersion);
  await makeSchema(client, 'meta', migrations, manifest.metaVersion);
  await client.query(installationTable);
  await client.query('insert into installation (id) values ($1)', [installation]);
  const foreignKeys = await dropForeignKeys(client);
  for (const table of tables) {
    signal.throwIfAborted();
    progress(`filling table ${table.head.schema}.${table.head.table}`);
    await fillTable(client, table);
  }
  for (const { table, name, definition } of foreignKeys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  await client.query('set local search_path = ingest');
  await run(client, insertFiller(lastPosition, nowMs));
  await client.query('update ingest.log_state set last_position = $1', [lastPosition]);
  for (const { head } of tables) await goOnCounting(client, head);
  await client.query('set local search_path = meta');
  for (const statement of restoredEntry(manifest, nowMs)) await run(client, statement);
}

async function run(client: Client, { sql, values }: Statement): Promise<void> {
  let at = 0;
  const text = sql.replaceAll('?', () => `$${++at}`);
  await client.query(
    text,
    values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
  );
}

async function requireEmpty(client: Client, shown: string): Promise<void> {
  const { rows } = await client.query(`
    select pg_try_advisory_xact_lock(${lockClass}, ${databaseLockKey}) as free,
      (select string_agg(nspname, ' and ') from pg_namespace where nspname in (${schemas.map((name) => `'${name}'`).join(', ')})) as found`);
  if (rows[0]?.free !== 1 || rows[0]?.found !== null)
    throw failedPrecondition(
      `${shown}: expected an empty database, found ${rows[0]?.free === 1 ? `schema ${rows[0]?.found}` : 'that a cloud uses it'}. Nothing was changed; a restore never overwrites: make another database and name it in PLATFORM_DATABASE_URL`,
    );
}

async function makeSchema(client: Client, schema: string, all: readonly Migration[], version: number): Promise<void> {
  await client.query(`set local search_path = ${schema}`);
  const upTo = all.filter((migration) => migration.version <= version);
  await migrateSchema({ query: (sql, params) => client.query(sql, params as unknown[]) }, schema, upTo);
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Tables are filled in any order; references are checked at the end, when the keys are added again. */
async function dropForeignKeys(client: Client): Promise<readonly ForeignKey[]> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(`
    select format('%I.%I', n.nspname, c.relname) as table, format('%I', k.conname) as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype = 'f' and n.nspname in ('meta', 'ingest')`);
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

async function fillTable(client: Client, { head, rows }: BackedUpTable): Promise<void> {
  const name = `${head.schema}.${quoted([head.table])}`;
  const types = await typesOf(client, head.schema, head.table);
  const missing = head.columns.filter((column) => !types.has(column));
  if (missing.length > 0)
    throw dataLoss(
      `the backup has ${name} with column ${missing.join(', ')}, which is unknown for a backup of that version`,
    );
  // Removes rows inserted by the migrations. The guard of the audit trail refuses even a delete of no rows.
  const { rows: there } = await client.query(`select 1 from ${name} limit 1`);
  if (there.length > 0) await client.query(`delete from ${name}`);
  const values = head.columns.map((column, index) => `(r ->> ${index})::${types.get(column)}`).join(', ');
  const sql = `insert into ${name} (${quoted(head.columns)}) select ${values} from json_array_elements($1::json) as t (r)`;
  let waiting: string[] = [];
  let size = 0;
  const send = async (): Promise<void> => {
    const json = `[${waiting.join(',')}]`;
    waiting = [];
    size = 0;
    try {
      await client.query(sql, [json]);
    } catch (caught) {
      if (isConnectionLost(caught)) throw caught;
      throw dataLoss(`rows of ${name} in the backup cannot be stored: ${errorText(caught)}`, caught);
    }
  };
  for await (const row of rows()) {
    if (waiting.length > 0 && (size + row.length > characters || waiting.length >= rowsAtOnce)) await send();
    waiting.push(row);
    size += row.length;
  }
  if (waiting.length > 0) await send();
}

async function typesOf(client: Client, schema: string, table: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped`,
    [schema, table],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

async function goOnCounting(client: Client, { schema, table, identity }: BackedUpTable['head']): Promise<void> {
  const { rows } = await client.query<{ column: string }>(
    `select a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and a.attidentity <> ''`,
    [schema, table],
  );
  const name = `${schema}.${quoted([table])}`;
  for (const { column } of rows)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), last) from (
         select greatest($3::bigint, (select max("${column}") from ${name})) as last
       ) as l where last > 0`,
      [name, column, identity?.last ?? 0],
    );
}

async function commit(client: Client, shown: string): Promise<void> {
  const { command } = await client.query('commit').catch((caught: unknown) => {
    throw unavailable(
      `${shown}: the connection was lost at the very end of the restore, so the database may be full or empty. Restore again, into another empty database`,
      caught,
    );
  });
  if (command !== 'COMMIT') throw new PlatformError('internal', `${shown} rolled the restore back`);
}
