/**
 * Where a test keeps what the cloud stores: files in a directory of its own, or a new database of a Postgres server for tests.
 *
 * PLATFORM_TEST_STORE=postgres makes Postgres the store of every test that does not say which; PLATFORM_TEST_POSTGRES names a
 * server for tests that is there already, else one is started for this process.
 */
import { randomBytes } from 'node:crypto';
import { type PostgresServer, startPostgres, type TemporaryDirectory, temporaryDirectory } from '@platform/testkit';
import { Client } from 'pg';

export type StoreKind = 'sqlite' | 'postgres';

export const storeKinds: readonly StoreKind[] = ['sqlite', 'postgres'];

export const defaultStore: StoreKind = process.env['PLATFORM_TEST_STORE'] === 'postgres' ? 'postgres' : 'sqlite';

export interface TestStore extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly directory: TemporaryDirectory;
  /** For `openMetadata` and `openIngestLog`; undefined: SQLite. */
  readonly database: string | undefined;
  /** Runs statements behind the cloud's back, in Postgres; answers the last one's rows. */
  administer(statement: string): Promise<readonly Record<string, unknown>[]>;
}

let server: Promise<PostgresServer> | undefined;

export async function openTestStore(kind: StoreKind = defaultStore): Promise<TestStore> {
  const directory = await temporaryDirectory();
  const name = `test_${randomBytes(8).toString('hex')}`;
  const serverUrl = kind === 'postgres' ? await testServer() : undefined;
  const urlOf = (database: string): string => String(serverUrl).replace(/\/postgres$/, `/${database}`);
  if (kind === 'postgres') await runIn(urlOf('postgres'), `create database ${name}`);
  return {
    kind,
    directory,
    database: kind === 'postgres' ? urlOf(name) : undefined,
    administer: (statement) => runIn(urlOf(name), statement),
    async [Symbol.asyncDispose]() {
      if (kind === 'postgres') await runIn(urlOf('postgres'), `drop database ${name} with (force)`);
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** URL of its database `postgres`. */
async function testServer(): Promise<string> {
  const given = process.env['PLATFORM_TEST_POSTGRES'];
  if (given !== undefined && given !== '') return given;
  // Ends with this process.
  server ??= startPostgres();
  return (await server).url('postgres');
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
