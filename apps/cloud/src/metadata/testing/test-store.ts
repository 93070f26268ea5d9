/**
 * Where a test keeps what the cloud stores: files in a directory in memory, or a new database on a Postgres server for tests.
 *
 * PLATFORM_TEST_STORE=postgres selects Postgres for every test that does not choose a store. PLATFORM_TEST_POSTGRES names an existing
 * server for tests; otherwise one is started for this process.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { memoryDirectory, type PostgresServer, startPostgres, type TemporaryDirectory } from '@platform/testkit';
import { Client, Pool } from 'pg';
import type { Migration } from '../sqlite/writer-protocol.ts';
import { migratedDatabase } from './migrated-database.ts';
import { migratedFile } from './migrated-file.ts';

export type StoreKind = 'sqlite' | 'postgres';

export const storeKinds: readonly StoreKind[] = ['sqlite', 'postgres'];

/** For tests whose statements differ; they leave the choice to `openTestStore`. */
export const defaultStore: StoreKind = process.env['PLATFORM_TEST_STORE'] === 'postgres' ? 'postgres' : 'sqlite';

export interface TestStore extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly directory: TemporaryDirectory;
  /** For `openMetadata` and `openIngestLog`; undefined: SQLite. */
  readonly database: string | undefined;
  /** Runs statements in Postgres without the cloud's knowledge; returns the rows of the last one. */
  administer(statement: string): Promise<readonly Record<string, unknown>[]>;
}

/** Far more than tests store at a time. */
const leastMemoryBytes = 2 * 1024 ** 3;

let server: Promise<PostgresServer> | undefined;
let administrator: Pool | undefined;
/** Databases that already have the tables, by migrations; each is created once. */
const migrated = new Map<readonly Migration[], Promise<string>>();

let openedByDefault = 0;

/** How many stores this process has opened whose kind the test left open. */
export function storesOpenedByDefault(): number {
  return openedByDefault;
}

/**
 * @param given undefined: the default one
 * @param migrations already applied to a new Postgres database or to `meta.sqlite`; opening it applies missing ones. Default: none.
 */
export async function openTestStore(given?: StoreKind, migrations: readonly Migration[] = []): Promise<TestStore> {
  if (given === undefined) openedByDefault++;
  const kind = given ?? defaultStore;
  const directory = await memoryDirectory(undefined, leastMemoryBytes);
  if (kind === 'sqlite') {
    if (migrations.length > 0) await writeFile(directory.file('meta.sqlite'), await migratedFile(migrations));
    return openSqliteStore(directory);
  }
  const name = `test_${randomBytes(8).toString('hex')}`;
  const urlOf = await testServer();
  administrator ??= administratorOf(urlOf('postgres'));
  const pool = administrator;
  let template = migrated.get(migrations);
  if (template === undefined && migrations.length > 0) {
    template = migratedDatabase(pool, urlOf, migrations);
    migrated.set(migrations, template);
  }
  // A copy of the files takes half the time of a copy through the write-ahead log.
  await pool.query(`create database ${name} template ${(await template) ?? 'template1'} strategy file_copy`);
  return {
    kind,
    directory,
    database: urlOf(name),
    administer: (statement) => runIn(urlOf(name), statement),
    async [Symbol.asyncDispose]() {
      await pool.query(`drop database ${name} with (force)`);
      await directory[Symbol.asyncDispose]();
    },
  };
}

function openSqliteStore(directory: TemporaryDirectory): TestStore {
  return {
    kind: 'sqlite',
    directory,
    database: undefined,
    administer: () => Promise.reject(new Error('expected a store in Postgres, found SQLite')),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** Returns a function from database name to URL. */
async function testServer(): Promise<(database: string) => string> {
  const given = process.env['PLATFORM_TEST_POSTGRES'];
  if (given !== undefined && given !== '') return (database) => given.replace(/\/postgres$/, `/${database}`);
  // Ends with this process.
  server ??= startPostgres();
  const started = await server;
  return (database) => started.url(database);
}

/** One connection, which does not keep the process alive. */
function administratorOf(url: string): Pool {
  const pool = new Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  pool.on('error', () => {});
  return pool;
}

async function runIn(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const results = await client.query(statement);
    return [results].flat().at(-1)?.rows ?? [];
  } finally {
    await client.end();
  }
}
