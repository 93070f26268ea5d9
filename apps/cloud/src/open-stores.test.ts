/** The key, upgrades of the tables, proven by one step beyond the baseline (ADR-0077), and data that no step upgrades. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorText, silentLog, systemClock } from '@platform/base';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { restoreBackup } from './backup/restore-backup.ts';
import { composeCloud } from './compose.ts';
import { dataVersion } from './data-directory.ts';
import { ingestMigrations } from './ingest/log/log-tables.ts';
import { openIngestLog } from './ingest/log/open-ingest-log.ts';
import { testEntry } from './ingest/testing/test-entry.ts';
import { baselineVersion } from './metadata/baseline-version.ts';
import { migrations } from './metadata/migrations.ts';
import { openMetadata } from './metadata/open-metadata.ts';
import type { Migration } from './metadata/sqlite/writer-protocol.ts';
import { openTestStore, storeKinds, type TestStore } from './metadata/testing/test-store.ts';
import { openStores, type StoreSettings, type Stores, type StoresDeps, type StoreTables } from './open-stores.ts';
import { readSettings } from './settings.ts';

const fatal = (caught: unknown): never => {
  throw caught;
};
const deps: StoresDeps = { clock: systemClock, log: silentLog, onFatal: fatal };

/** The key of the row is unique: a second run of the step fails. */
const runsOnce = "insert into instance_state (name, value) values ('step', 'done')";
const step: Migration = {
  version: baselineVersion + 1,
  statements: ["alter table organizations add column motto text not null default 'none'", runsOnce],
};
const beyond: StoreTables = { meta: [...migrations, step], ingest: ingestMigrations };
const copyName = `before-upgrade/meta-v${baselineVersion}-ingest-v${baselineVersion}`;

interface Place {
  readonly path: string;
  readonly store: TestStore;
}

const settingsOf = ({ path, store }: Place, options: Partial<StoreSettings> = {}): StoreSettings => ({
  ...{ dataDirectory: path, databaseUrl: store.database },
  ...{ instanceKey: undefined, nextInstanceKey: undefined, keepBeforeUpgrade: true },
  ...options,
});

const open = (place: Place, tables?: StoreTables, options?: Partial<StoreSettings>): Promise<Stores> =>
  openStores(settingsOf(place, options), { ...deps, tables });

async function empty(kind: (typeof storeKinds)[number]): Promise<Place> {
  const store = await openTestStore(kind);
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { path: store.directory.file('data'), store };
}

/** An installation of the baseline: an organization with a sealed secret, and a log with an upload. */
async function ofBaseline(kind: (typeof storeKinds)[number]): Promise<Place> {
  const place = await empty(kind);
  await using stores = await open(place);
  const secret = stores.instanceKey.encrypt('whsec_1');
  await sql`insert into organizations (id, name, created_ms, webhook_secret) values ('o', 'First', 1, ${secret})`.execute(
    stores.db,
  );
  await using log = await openIngestLog({
    ...{ file: stores.data.at('ingest.sqlite'), database: place.store.database },
    ...{ log: silentLog, clock: systemClock, onFatal: fatal },
  });
  await log.append(testEntry(1));
  stores.data.complete();
  return place;
}

/** Everything that the installation has stored: the files by their hashes, and the rows of all tables. */
async function contentsOf({ path, store }: Place): Promise<unknown> {
  const files = existsSync(path) ? readdirSync(path, { recursive: true, withFileTypes: true }) : [];
  const hashes = files
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]);
  if (store.database === undefined) return hashes;
  const tables = await store.administer(
    "select schemaname, tablename from pg_tables where schemaname in ('meta', 'ingest', 'public') order by 1, 2",
  );
  const rows: unknown[] = [];
  for (const { schemaname, tablename } of tables)
    rows.push([
      `${schemaname}.${tablename}`,
      await store.administer(`select t::text as row from ${schemaname}."${tablename}" t order by 1`),
    ]);
  return [hashes, rows];
}

async function versionOf({ path, store }: Place): Promise<number> {
  if (store.database !== undefined)
    return Number((await store.administer('select version::int from meta.schema_version'))[0]?.['version']);
  using db = new DatabaseSync(join(path, 'meta.sqlite'), { readOnly: true });
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

const restore = async (source: string, { path, store }: Place): Promise<unknown> =>
  restoreBackup({
    ...{ source, target: path, database: store.database, newestDataVersion: dataVersion },
    ...{ now: () => 1, progress: () => {}, signal: new AbortController().signal },
  });

describe.each(storeKinds)('the tables in %s', (kind) => {
  test('are upgraded once, after a safety copy that platform admin restore restores', async () => {
    const place = await ofBaseline(kind);
    {
      await using stores = await open(place, beyond);
      expect(stores.safetyCopy).toBe(join(place.path, copyName));
      const { rows } = await sql`select name, motto from organizations`.execute(stores.db);
      expect(rows).toEqual([{ name: 'First', motto: 'none' }]);
    }
    for (let start = 0; start < 2; start++) {
      await using stores = await open(place, beyond);
      expect(stores.safetyCopy).toBe(undefined);
    }
    expect(await versionOf(place)).toBe(step.version);

    const restored = await empty(kind);
    await restore(join(place.path, copyName), restored);
    expect(await versionOf(restored)).toBe(baselineVersion);
    await using stores = await open(restored, beyond);
    const organization = await stores.db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow();
    expect(stores.instanceKey.decrypt(organization.webhook_secret)).toBe('whsec_1');
  });

  test('are copied before the ingest log alone changes, too, and not at all if that is switched off', async () => {
    const place = await ofBaseline(kind);
    const tables = { meta: migrations, ingest: [...ingestMigrations, { ...step, statements: [] }] };
    {
      await using stores = await open(place, tables, { keepBeforeUpgrade: false });
      expect(stores.safetyCopy).toBe(undefined);
    }
    expect(existsSync(join(place.path, 'before-upgrade'))).toBe(false);
    await using stores = await open(place, tables);
    expect(stores.safetyCopy).toBe(join(place.path, copyName));
  });

  test('are as before after a step that failed, and the next start upgrades them', async () => {
    const place = await ofBaseline(kind);
    const failing = { ...step, statements: [...step.statements, 'create table extra (id integer)', 'create nonsense'] };
    await expect(open(place, { ...beyond, meta: [...migrations, failing] })).rejects.toSatisfy((caught: unknown) =>
      /syntax error/.test(errorText(caught)),
    );
    expect(await versionOf(place)).toBe(baselineVersion);
    {
      await using stores = await open(place);
      expect((await sql`select * from instance_state where name = 'step'`.execute(stores.db)).rows).toEqual([]);
    }
    await using stores = await open(place, beyond);
    expect((await sql`select value from instance_state where name = 'step'`.execute(stores.db)).rows).toHaveLength(1);
  });

  test('are upgraded by one of several processes that start at once', async () => {
    const { store } = await empty(kind);
    const openAt = (known: readonly Migration[]) =>
      openMetadata({
        ...{ clock: systemClock, onFatal: fatal, log: silentLog },
        ...{ file: store.directory.file('meta.sqlite'), database: store.database, migrations: known },
      });
    await (await openAt(migrations))[Symbol.asyncDispose]();
    // In Postgres, only one of them gets the database.
    const starts = await Promise.allSettled([1, 2, 3, 4].map(() => openAt(beyond.meta)));
    const opened = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    for (const metadata of opened) await metadata[Symbol.asyncDispose]();
    expect(opened).toHaveLength(kind === 'sqlite' ? 4 : 1);
    await using metadata = await openAt(beyond.meta);
    expect((await sql`select value from instance_state where name = 'step'`.execute(metadata.db)).rows).toHaveLength(1);
  });

  test('of a newer version are refused by name, and nothing is changed', async () => {
    const place = await ofBaseline(kind);
    await (await open(place, beyond))[Symbol.asyncDispose]();
    const before = await contentsOf(place);
    await expect(open(place)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: expect.stringMatching(
        /(meta\.sqlite|schema meta of the .*) has version 104, but this version supports only versions up to 103: start the newer version/,
      ),
    });
    expect(await contentsOf(place)).toEqual(before);
  });

  test('D42 of a commit before 0.1 are refused by name with what to do, and nothing is changed', async () => {
    const place = await ofBaseline(kind);
    const { path, store } = place;
    if (store.database === undefined) {
      for (const [name, version] of [
        ['meta.sqlite', 45],
        ['ingest.sqlite', 2],
      ] as const) {
        using db = new DatabaseSync(join(path, name));
        db.exec(`pragma user_version = ${version}`);
      }
    } else
      await store.administer(
        'update meta.schema_version set version = 45; update ingest.schema_version set version = 2',
      );
    writeFileSync(join(path, 'platform.json'), '{"format":"platform-data","version":4,"stage":"complete"}\n');
    const before = await contentsOf(place);
    const expected = {
      code: 'failed_precondition',
      message: expect.stringContaining(
        `data directory ${path} has version 4, of a commit before release 0.1, but this version supports only versions from 103 on. Nothing was changed; start with an empty data directory (and database), or go on with the commit that wrote it`,
      ),
    };
    await expect(open(place)).rejects.toMatchObject(expected);
    const settings = readSettings(['--data', path, '--port', '0'], {
      ...{ PLATFORM_LOG_LEVEL: 'error', PLATFORM_DATABASE_URL: store.database },
    });
    await expect(composeCloud(settings)).rejects.toMatchObject(expected);
    expect(await contentsOf(place)).toEqual(before);
  });
});

test('D42 a database of a commit before 0.1 is refused with an empty data directory, too, and nothing in it is changed', async () => {
  const place = await empty('postgres');
  await place.store.administer(`
    create schema meta;
    create table meta.schema_version (version bigint not null);
    insert into meta.schema_version values (45);
    create table meta.organizations (id text primary key, name text);
    insert into meta.organizations values ('o', 'First')`);
  const rowsBefore = (await contentsOf({ ...place, path: '/nonexistent' })) as unknown[];
  await expect(open(place)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(/^schema meta of the .* has version 45, of a commit before release 0\.1/),
  });
  expect(await contentsOf({ ...place, path: '/nonexistent' })).toEqual(rowsBefore);
});

test('D42 a backup of a commit before 0.1 is refused by name, and nothing is restored', async () => {
  const place = await empty('sqlite');
  await using backup = await openTestStore('sqlite');
  const manifest = {
    ...{ format: 'platform-backup', version: 1, createdMs: 1, program: '0.1.0', dataVersion: 4, files: [] },
    ...{ metaVersion: 45, ingestVersion: 2, sealedPosition: 0, lastPosition: 0, instanceKey: 'included' },
  };
  writeFileSync(backup.directory.file('backup.json'), JSON.stringify(manifest));
  await expect(restore(backup.directory.path, place)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(
      /^the data directory in the backup .* has version 4, of a commit before release 0\.1/,
    ),
  });
  expect(existsSync(place.path)).toBe(false);
});

test('a copy interrupted before the tables changed is made again', async () => {
  const place = await ofBaseline('sqlite');
  const copy = join(place.path, copyName);
  mkdirSync(`${copy}.new`, { recursive: true });
  writeFileSync(`${copy}.new/meta.sqlite`, 'half of a copy');
  mkdirSync(copy);
  writeFileSync(join(copy, 'meta.sqlite'), 'of a program that went on with the baseline');
  await using _stores = await open(place, beyond);
  await restore(copy, await empty('sqlite'));
});

test('an upgrade interrupted before its version was recorded keeps the first copy', async () => {
  const place = await ofBaseline('sqlite');
  for (let start = 0; start < 2; start++) await (await open(place, beyond))[Symbol.asyncDispose]();
  const restored = await empty('sqlite');
  await restore(join(place.path, copyName), restored);
  expect(await versionOf(restored)).toBe(baselineVersion);
});

test('a cloud names the safety copy when it is ready, and only at the start that made it', async () => {
  const place = await ofBaseline('sqlite');
  const settings = readSettings(['--data', place.path, '--port', '0'], { PLATFORM_LOG_LEVEL: 'error' });
  {
    await using cloud = await composeCloud(settings, beyond);
    expect(cloud.ready.safetyCopy).toBe(join(place.path, copyName));
  }
  await using cloud = await composeCloud(settings, beyond);
  expect(cloud.ready.safetyCopy).toBe(undefined);
});

test('a start that changes no tables makes no copy', async () => {
  const place = await ofBaseline('sqlite');
  await using stores = await open(place);
  expect(stores.safetyCopy).toBe(undefined);
  expect(existsSync(join(place.path, 'before-upgrade'))).toBe(false);
});

test('D6 an instance key that does not belong to the data is refused at once, and nothing is changed', async () => {
  const place = await empty('sqlite');
  {
    await using stores = await open(place);
    expect(stores.data.isNew).toBe(true);
  }
  const other = Buffer.alloc(32, 7).toString('base64');
  await expect(open(place, undefined, { instanceKey: other })).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(/secrets in the data directory are encrypted with the instance key [0-9a-f]{16}/),
  });
  await using _stores = await open(place);
});
