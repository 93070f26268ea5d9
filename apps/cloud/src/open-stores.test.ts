import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { restoreBackup } from './backup/restore-backup.ts';
import { composeCloud } from './compose.ts';
import { dataVersion } from './data-directory.ts';
import { ingestMigrations } from './ingest/log/log-tables.ts';
import { openInstanceKey } from './instance/instance-key.ts';
import { migrations } from './metadata/migrations.ts';
import { migrate } from './metadata/sqlite/migrate.ts';
import { openStores, type StoreSettings } from './open-stores.ts';
import { readSettings } from './settings.ts';

const fatal = (caught: unknown): never => {
  throw caught;
};
const settingsOf = (dataDirectory: string, options: Partial<StoreSettings> = {}): StoreSettings => ({
  dataDirectory,
  instanceKey: undefined,
  nextInstanceKey: undefined,
  keepBeforeUpgrade: true,
  ...options,
});

/** Creates a directory as left by version 1: its tables, its marker, an organization with a sealed secret and a person without a grant. */
function versionOne(path: string, metaVersion = 1, ingestVersion = newestLog): void {
  mkdirSync(path, { mode: 0o700 });
  const key = openInstanceKey(join(path, 'instance.key'), undefined);
  {
    using meta = new DatabaseSync(join(path, 'meta.sqlite'));
    migrate(
      meta,
      migrations.filter(({ version }) => version <= metaVersion),
      'meta.sqlite',
    );
    meta
      .prepare('insert into organizations (id, name, created_ms, webhook_secret) values (?, ?, ?, ?)')
      .run('o', 'First', 1, key.encrypt('whsec_1'));
    meta.prepare('insert into people (id, email, name, created_ms) values (?, ?, ?, ?)').run('p', null, 'owner', 1);
  }
  using log = new DatabaseSync(join(path, 'ingest.sqlite'));
  migrate(
    log,
    ingestMigrations.filter(({ version }) => version <= ingestVersion),
    'ingest.sqlite',
  );
  writeFileSync(join(path, 'platform.json'), '{"format":"platform-data","version":1,"stage":"complete"}\n');
}

const newestLog = Math.max(...ingestMigrations.map(({ version }) => version));
const copyOfOne = `before-upgrade/meta-v1-ingest-v${newestLog}`;
const versionOf = (path: string): unknown => JSON.parse(readFileSync(join(path, 'platform.json'), 'utf8')).version;

function tablesOf(file: string): { version: number; organizations: unknown[] } {
  using db = new DatabaseSync(file, { readOnly: true });
  return {
    version: Number(db.prepare('pragma user_version').get()?.['user_version']),
    organizations: db.prepare('select id, name from organizations').all(),
  };
}

test('a data directory of version 1 is upgraded after a copy of its metadata is made', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  versionOne(path);
  {
    await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
    const organization = await stores.db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow();
    expect(stores.instanceKey.decrypt(organization.webhook_secret)).toBe('whsec_1');
    expect(await stores.db.selectFrom('audit_entries').selectAll().execute()).toEqual([]);
    expect(stores.safetyCopy).toBe(join(path, copyOfOne));
  }
  expect(versionOf(path)).toBe(dataVersion);
  expect(tablesOf(join(path, copyOfOne, 'meta.sqlite'))).toEqual({
    version: 1,
    organizations: [{ id: 'o', name: 'First' }],
  });
  await using again = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
  expect(again.data.foundVersion).toBe(dataVersion);
});

test('an upgrade interrupted before it recorded its version is repeated, and keeps the first copy', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  versionOne(path);
  const marker = readFileSync(join(path, 'platform.json'));
  for (let start = 0; start < 2; start++) {
    await using _stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
    writeFileSync(join(path, 'platform.json'), marker);
  }
  await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
  expect(stores.data.foundVersion).toBe(1);
  expect(versionOf(path)).toBe(dataVersion);
  expect(tablesOf(join(path, copyOfOne, 'meta.sqlite')).version).toBe(1);
});

test('a copy interrupted before the tables changed is made again', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  versionOne(path);
  mkdirSync(join(path, `${copyOfOne}.new`), { recursive: true });
  writeFileSync(join(path, `${copyOfOne}.new/meta.sqlite`), 'half of a copy');
  mkdirSync(join(path, copyOfOne));
  writeFileSync(join(path, copyOfOne, 'meta.sqlite'), 'of a program that went on with version 1');
  await using _stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
  expect(tablesOf(join(path, copyOfOne, 'meta.sqlite')).version).toBe(1);
});

test('a start that changes only tables of the metadata or of the log makes a copy first, which platform admin restore restores', async () => {
  await using directory = await temporaryDirectory();
  const newestMeta = Math.max(...migrations.map(({ version }) => version));
  for (const [name, meta, ingest] of [
    ['metadata', newestMeta - 1, newestLog],
    ['log', newestMeta, newestLog - 1],
  ] as const) {
    const path = directory.file(name);
    versionOne(path, meta, ingest);
    writeFileSync(
      join(path, 'platform.json'),
      `{"format":"platform-data","version":${dataVersion},"stage":"complete"}\n`,
    );
    let copy = '';
    {
      await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
      copy = stores.safetyCopy ?? '';
    }
    expect(copy).toBe(join(path, `before-upgrade/meta-v${meta}-ingest-v${ingest}`));
    const target = directory.file(`${name}-restored`);
    await restoreBackup({
      ...{ source: copy, target, newestDataVersion: dataVersion, now: () => 1, progress: () => {} },
      signal: new AbortController().signal,
    });
    expect(tablesOf(join(target, 'meta.sqlite'))).toEqual({
      version: meta,
      organizations: [{ id: 'o', name: 'First' }],
    });
    await using restored = await openStores(settingsOf(target), { clock: systemClock, log: silentLog, onFatal: fatal });
    const organization = await restored.db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow();
    expect(restored.instanceKey.decrypt(organization.webhook_secret)).toBe('whsec_1');
  }
});

test('a cloud names the safety copy when it is ready, and only at the start that made it', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  versionOne(path);
  const settings = readSettings(['--data', path, '--port', '0'], { PLATFORM_LOG_LEVEL: 'error' });
  {
    await using cloud = await composeCloud(settings);
    expect(cloud.ready.safetyCopy).toBe(join(path, copyOfOne));
  }
  await using cloud = await composeCloud(settings);
  expect(cloud.ready.safetyCopy).toBe(undefined);
});

test('a start that changes no tables makes no copy', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  for (let start = 0; start < 2; start++) {
    await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
    expect(stores.safetyCopy).toBe(undefined);
  }
  expect(existsSync(join(path, 'before-upgrade'))).toBe(false);
});

test('PLATFORM_KEEP_BEFORE_UPGRADE=false upgrades without a copy', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  versionOne(path);
  await using _stores = await openStores(settingsOf(path, { keepBeforeUpgrade: false }), {
    clock: systemClock,
    log: silentLog,
    onFatal: fatal,
  });
  expect(versionOf(path)).toBe(dataVersion);
  expect(existsSync(join(path, 'before-upgrade'))).toBe(false);
});

test('D6 an instance key that does not belong to the data is refused at once, and nothing is changed', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('data');
  {
    await using stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
    expect(stores.data.isNew).toBe(true);
  }
  const other = Buffer.alloc(32, 7).toString('base64');
  await expect(
    openStores(settingsOf(path, { instanceKey: other }), { clock: systemClock, log: silentLog, onFatal: fatal }),
  ).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(/secrets in the data directory are encrypted with the instance key [0-9a-f]{16}/),
  });
  await using _stores = await openStores(settingsOf(path), { clock: systemClock, log: silentLog, onFatal: fatal });
});
