/** Backups of an installation in Postgres, restored into another database, and of one on SQLite, restored into Postgres. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog, systemClock } from '@platform/base';
import { memoryDirectory, type TemporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { dataVersion } from '../data-directory.ts';
import { createFirstAccount } from '../identity/create-first-account.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import { openIngestLog } from '../ingest/log/open-ingest-log.ts';
import { openTestStore, type TestStore } from '../metadata/testing/test-store.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { openStores, type Stores } from '../open-stores.ts';
import { type RestoreOptions, restoreBackup } from './restore-backup.ts';
import { type BackupOptions, type Hold, writeBackup } from './write-backup.ts';

const { signal } = new AbortController();
const backedUpMs = 1_700_000_000_000;
const fatal = (caught: unknown): never => {
  throw caught;
};
/** All byte values, and more than one page. */
const batch = Uint8Array.from({ length: 5_000 }, (_, i) => i);
const name = 'Halle "7" \\ \n\t\u2028 \u{1f600} é';
const largest = Number.MAX_SAFE_INTEGER;

async function emptyDatabase(): Promise<TestStore> {
  const store = await openTestStore('postgres');
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

function openAll(path: string, databaseUrl: string | undefined): Promise<Stores> {
  const settings = { instanceKey: undefined, nextInstanceKey: undefined, keepBeforeUpgrade: true };
  return openStores(
    { dataDirectory: path, databaseUrl, ...settings },
    { clock: systemClock, log: silentLog, onFatal: fatal },
  );
}

const openLog = (path: string, database: string | undefined): Promise<IngestLog> =>
  openIngestLog({
    onFatal: throwUncaught,
    file: join(path, 'ingest.sqlite'),
    database,
    log: silentLog,
    clock: systemClock,
  });

const upload = (seq: number) => ({
  ...{ partId: 'p', stream: new Uint8Array(16), seq, lowWaterMark: 0, fileId: `f${seq}` },
  sha256: new Uint8Array(32).fill(seq),
  batch,
});

/** A data directory with an account, one listed file, one payload and three uploads in the log; closed. */
async function installation(directory: TemporaryDirectory, database: string | undefined): Promise<string> {
  const path = directory.file('data');
  await using stores = await openAll(path, database);
  const { db } = stores;
  await createFirstAccount(db, stores.instanceKey, 1);
  await using log = await openLog(path, database);
  for (let seq = 1; seq <= 3; seq++)
    await log.append({ ...upload(seq), ...(seq === 3 && { blobPath: 'o/l/picture.jpg' }) });
  mkdirSync(join(path, 'blobs', 'o', 'l'), { recursive: true });
  writeFileSync(join(path, 'blobs', 'o', 'l', 'picture.jpg'), 'a picture');
  mkdirSync(join(path, 'parquet'));
  writeFileSync(join(path, 'parquet', 'listed.parquet'), 'rows');
  await db
    .insertInto('tabular_files')
    .values({
      ...{ file: 'listed.parquet', organization_id: 'o', capture_day: '2026-01-01', format: 2, rows: 1 },
      ...{ logical_bytes: largest, file_bytes: 4, min_position: 1, max_position: 1, path_sets: '{}', created_ms: 1 },
      ...{ min_time_received: null, max_time_received: null, min_time_requested: null, max_time_requested: null },
      ...{ sha256: createHash('sha256').update('rows').digest('hex'), block_crcs: '', row_check: '', proof_day: '' },
    })
    .execute();
  await db.updateTable('tabular_state').set({ sealed_position: 1 }).execute();
  await db.updateTable('organizations').set({ name }).execute();
  stores.data.complete();
  return path;
}

const noHold = async (): Promise<Hold> => ({ stands: async () => {}, [Symbol.asyncDispose]: async () => {} });

const backUp = (from: string, to: string, database: string | undefined, options: Partial<BackupOptions> = {}) =>
  writeBackup({
    ...{ dataDirectory: from, destination: to, database, hold: noHold, key: { kind: 'included' }, signal },
    ...{ keyInEnvironment: false, program: 'test', now: () => backedUpMs, monotonic: () => 0, progress: () => {} },
    ...options,
  });

const restore = (from: string, to: string, database: string | undefined, options: Partial<RestoreOptions> = {}) =>
  restoreBackup({
    ...{ source: from, target: to, database, newestDataVersion: dataVersion, signal },
    ...{ now: () => backedUpMs + 1, progress: () => {} },
    ...options,
  });

/** What every restored installation must contain, regardless of its source. */
async function expectWhole(target: string, database: string): Promise<void> {
  await using stores = await openAll(target, database);
  const { db, instanceKey } = stores;
  const organization = await db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow();
  expect(organization.name).toBe(name);
  expect(instanceKey.decrypt(organization.webhook_secret)).toMatch(/^whsec_/);
  const file = await db.selectFrom('tabular_files').selectAll().executeTakeFirstOrThrow();
  expect(file).toMatchObject({ logical_bytes: largest, min_time_received: null });
  const [restored] = await db.selectFrom('audit_entries').selectAll().orderBy('id', 'desc').execute();
  expect(restored).toMatchObject({ actor_kind: 'admin', action: 'admin.restore' });
  expect(readFileSync(join(target, 'parquet/listed.parquet'), 'utf8')).toBe('rows');
  expect(readFileSync(join(target, 'blobs/o/l/picture.jpg'), 'utf8')).toBe('a picture');

  await using log = await openLog(target, database);
  const rows = await log.read(0, { rows: 10, bytes: 100_000 });
  expect(rows.slice(0, 3).map((row) => [row.position, row.batch])).toEqual([
    [1, batch],
    [2, batch],
    [3, batch],
  ]);
  expect(log.lastPosition()).toBeGreaterThan(2 ** 40);
  expect(await log.append(upload(2))).toMatchObject({ outcome: 'repeated', position: 2, fileId: 'f2' });
  expect(await log.append(upload(4))).toMatchObject({ outcome: 'appended', position: 2 ** 40 + 4 });
}

test('I15 a backup from Postgres holds every table, listed file and named payload, and is complete in another database', async () => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const data = await installation(directory, first.database);
  const backup = directory.file('backup');
  const report = await backUp(data, backup, first.database);
  expect(report).toMatchObject({ createdMs: backedUpMs, sealedPosition: 1, lastPosition: 3, instanceKey: 'included' });
  expect(readdirSync(backup).toSorted()).toEqual(
    ['backup.json', 'blobs', 'instance.key', 'parquet', 'platform.json', 'tables'].toSorted(),
  );
  const [{ tables }] = (await first.administer(
    `select count(*)::int as tables from pg_tables where schemaname in ('meta', 'ingest')`,
  )) as [{ tables: number }];
  // Versions, tokens of commits and the installation's id are regenerated.
  expect(readdirSync(join(backup, 'tables'))).toHaveLength(tables - 5);

  const second = await emptyDatabase();
  const target = directory.file('restored');
  const { warnings } = await restore(backup, target, second.database);
  expect(warnings.join()).toContain('Machines delete what the cloud has acknowledged');
  await expectWhole(target, String(second.database));
  expect(readFileSync(join(target, 'postgres.json'), 'utf8')).not.toBe(
    readFileSync(join(data, 'postgres.json'), 'utf8'),
  );
  await expect(openAll(target, first.database)).rejects.toThrow(/belongs to another data directory/);
  // Foreign keys exist again.
  const foreign = `select count(*)::int as keys from pg_constraint where contype = 'f' and connamespace = 'meta'::regnamespace`;
  expect(await second.administer(foreign)).toEqual(await first.administer(foreign));
});

test('I15 ids continue after those assigned before the backup, even if their rows were deleted', async () => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const data = await installation(directory, first.database);
  const entry = `insert into meta.audit_entries (at_ms, actor_kind, actor_id, actor_name, action, target_kind, target_id, detail, peer_address)
    select n, 'admin', '', '', 'x', '', '', '{}', '' from generate_series(1, 7) n`;
  await first.administer(entry);
  const conflict = `insert into ingest.conflicts (part, stream, seq, sha256, batch) values ('p', '', 1, '', '\\x00ff') returning id::int`;
  const [{ id }] = (await first.administer(conflict)) as [{ id: number }];
  await first.administer('delete from ingest.conflicts');
  await backUp(data, directory.file('backup'), first.database);
  const second = await emptyDatabase();
  await restore(directory.file('backup'), directory.file('restored'), second.database);
  // The restore itself has written one.
  expect(await second.administer('select max(id)::int as id from meta.audit_entries')).toEqual([{ id: 8 }]);
  expect(await second.administer(conflict)).toEqual([{ id: id + 1 }]);
});

test('I15 rows committed after the snapshot of a backup from Postgres are in none of its tables', async () => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const data = await installation(directory, first.database);
  await using log = await openLog(data, first.database);
  const more: Promise<unknown>[] = [];
  let seq = 10;
  const progress = (text: string): void => {
    if (text.startsWith('copying table')) more.push(log.append(upload(seq++)));
  };
  const report = await backUp(data, directory.file('backup'), first.database, { progress });
  await Promise.all(more);
  expect(log.lastPosition()).toBeGreaterThan(report.lastPosition);
  const rows = (table: string): number =>
    readFileSync(directory.file(`backup/tables/ingest.${table}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n').length - 1;
  expect([rows('log'), rows('dedup')]).toEqual([report.lastPosition, report.lastPosition]);
});

test('I15 a backup of an installation on SQLite can be restored completely into Postgres', async () => {
  await using directory = await memoryDirectory();
  const data = await installation(directory, undefined);
  await backUp(data, directory.file('backup'), undefined);
  const store = await emptyDatabase();
  await restore(directory.file('backup'), directory.file('moved'), store.database);
  expect(existsSync(directory.file('moved/meta.sqlite'))).toBe(false);
  await expectWhole(directory.file('moved'), String(store.database));
});

test('I15 a restore into a non-empty database is refused, and neither it nor the directory is changed', async () => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const backup = directory.file('backup');
  await backUp(await installation(directory, first.database), backup, first.database);
  const target = directory.file('restored');
  const before = await first.administer('select id from meta.installation');
  await expect(restore(backup, target, first.database)).rejects.toThrow(
    /expected an empty database, found schema (meta and ingest|ingest and meta).*never overwrites/,
  );
  expect(readdirSync(target)).toEqual([]);
  expect(await first.administer('select id from meta.installation')).toEqual(before);
  await expect(restore(backup, target, undefined)).rejects.toThrow(/PLATFORM_DATABASE_URL to name an empty database/);
});

const tablesIn = (store: TestStore) =>
  store.administer(`select nspname from pg_namespace where nspname in ('meta', 'ingest')`);

test.each([
  ['changed', (file: string) => appendFileSync(file, '["x"]\n')],
  ['missing', (file: string) => rmSync(file)],
])('I15 a backup with a %s table is refused by its name, and nothing stays of the restore', async (_what, damage) => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const backup = directory.file('backup');
  await backUp(await installation(directory, first.database), backup, first.database);
  damage(join(backup, 'tables/meta.grants.ndjson'));
  const second = await emptyDatabase();
  await expect(restore(backup, directory.file('restored'), second.database)).rejects.toThrow(/meta.grants.ndjson/);
  expect(readdirSync(directory.file('restored'))).toEqual([]);
  expect(await tablesIn(second)).toEqual([]);
});

test('I15 a restore into Postgres that is stopped half way leaves neither tables nor files', async () => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const backup = directory.file('backup');
  await backUp(await installation(directory, first.database), backup, first.database);
  const second = await emptyDatabase();
  const stop = new AbortController();
  const progress = (text: string): void => {
    if (text === 'filling table meta.organizations') stop.abort(new Error('stopped'));
  };
  const options = { progress, signal: stop.signal };
  await expect(restore(backup, directory.file('restored'), second.database, options)).rejects.toThrow('stopped');
  expect(readdirSync(directory.file('restored'))).toEqual([]);
  expect(await tablesIn(second)).toEqual([]);
});

test('I15 a backup with the wrong database, without one, or that is stopped fails and leaves nothing behind', async () => {
  await using directory = await memoryDirectory();
  const first = await emptyDatabase();
  const data = await installation(directory, first.database);
  await using elsewhere = await memoryDirectory();
  const other = await emptyDatabase();
  await installation(elsewhere, other.database);
  const backup = directory.file('backup');
  await expect(backUp(data, backup, undefined)).rejects.toThrow(/PLATFORM_DATABASE_URL is not set/);
  await expect(backUp(data, backup, other.database)).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(backUp(data, backup, (await emptyDatabase()).database)).rejects.toThrow(/found none of a cloud/);
  const stop = new AbortController();
  const progress = (text: string): void => {
    if (text === 'copying table ingest.log') stop.abort(new Error('stopped'));
  };
  await expect(backUp(data, backup, first.database, { progress, signal: stop.signal })).rejects.toThrow('stopped');
  expect(readdirSync(backup)).toEqual([]);
});
