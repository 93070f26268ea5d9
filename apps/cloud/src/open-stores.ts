/** Opens what every process on a data directory needs first: the upgraded directory, its metadata and its instance key. */
import type { ClockAndLog } from '@platform/base';
import { isUpgrade, keepBeforeUpgrade, type StoreVersions, sqliteVersions } from './backup/keep-before-upgrade.ts';
import { type DataDirectory, dataVersion, openDataDirectory } from './data-directory.ts';
import { releaseStartReserve } from './ingest/disk/start-reserve.ts';
import { ingestMigrations } from './ingest/log/log-tables.ts';
import { type KeyRing, openInstanceKey } from './instance/instance-key.ts';
import { finishRotation } from './instance/rotate-instance-key.ts';
import { selectInstanceKey } from './instance/select-instance-key.ts';
import { writeFileAgain } from './instance/write-file-atomic.ts';
import { versionsOf } from './metadata/baseline-version.ts';
import { migrations } from './metadata/migrations.ts';
import { openMetadata } from './metadata/open-metadata.ts';
import { checkedTablesOf } from './metadata/row-checks/checked-tables-of.ts';
import { openRowReader } from './metadata/row-checks/open-row-reader.ts';
import { createRowWatch, type RowWatch } from './metadata/row-checks/row-watch.ts';
import { sealStoredDocuments } from './metadata/seal-stored-documents.ts';
import { sealedColumns } from './metadata/sealed-columns.ts';
import { sealedDocumentsPlugin } from './metadata/sealed-documents.ts';
import { makeDurable } from './metadata/sqlite/make-durable.ts';
import type { Migration } from './metadata/sqlite/writer-protocol.ts';
import type { CloudTables, Database } from './metadata/tables.ts';
import type { Settings } from './settings.ts';

export interface Stores extends AsyncDisposable {
  readonly data: DataDirectory;
  readonly db: Database;
  readonly rows: RowWatch;
  readonly instanceKey: KeyRing;
  /** Absent if the key comes from the environment. */
  readonly keyFile: string | undefined;
  /** Directory of the copy that was made before this start changed tables; undefined: it changed none. */
  readonly safetyCopy: string | undefined;
  /** Seals documents under the new instance key if they were saved while it was being replaced. Returns their number. */
  readonly sealDocuments: () => Promise<number>;
}

export type StoreSettings = Pick<
  Settings,
  'dataDirectory' | 'databaseUrl' | 'instanceKey' | 'nextInstanceKey' | 'keepBeforeUpgrade'
>;

export interface StoresDeps extends ClockAndLog {
  /** Called when a disk write fails: nothing more may be acknowledged, and the process must exit (I2). */
  readonly onFatal: (caught: unknown) => never;
  /** Default: those of this program. Tests of upgrades add a version. */
  readonly tables?: StoreTables | undefined;
}

/** Every version of the tables of each store. */
export interface StoreTables {
  readonly meta: readonly Migration[];
  readonly ingest: readonly Migration[];
}

const ownTables: StoreTables = { meta: migrations, ingest: ingestMigrations };

async function keepInPostgres(
  database: string,
  data: DataDirectory,
  keepOlder: (found: StoreVersions) => Promise<void>,
): Promise<void> {
  // Loaded late, because an installation on SQLite never needs the driver.
  const { postgresVersions } = await import('./backup/postgres-versions.ts');
  await keepOlder(await postgresVersions(database, data.at('postgres.json')));
}

/** @throws failed_precondition if the directory is not ours, in use or newer than this program, or if the instance key does not match. */
export async function openStores(settings: StoreSettings, deps: StoresDeps): Promise<Stores> {
  const { clock, log, onFatal, tables = ownTables } = deps;
  const newest: StoreVersions = { meta: versionsOf(tables.meta).newest, ingest: versionsOf(tables.ingest).newest };
  await using unwind = new AsyncDisposableStack();
  const data = unwind.use(
    openDataDirectory(settings.dataDirectory, settings.instanceKey === undefined, settings.databaseUrl !== undefined),
  );
  const makeRoom = (): void => releaseStartReserve(data.path);
  if (settings.databaseUrl === undefined)
    for (const name of ['meta.sqlite', 'ingest.sqlite']) makeDurable(data.at(name), { makeRoom });
  // Without them the data could not be opened, or not be read.
  for (const name of ['platform.json', 'postgres.json', 'instance.key']) writeFileAgain(data.at(name));
  const isOld = data.foundVersion < dataVersion;
  const { databaseUrl: database } = settings;
  let safetyCopy: string | undefined;
  const keepOlder = async (found: StoreVersions): Promise<void> => {
    if (!settings.keepBeforeUpgrade || !isUpgrade(found, newest)) return;
    const keyInEnvironment = settings.instanceKey !== undefined;
    const { now, monotonic } = clock;
    safetyCopy = await keepBeforeUpgrade({
      dataDirectory: data.path,
      database,
      found,
      keyInEnvironment,
      now,
      monotonic,
    });
    log.info('a safety copy was made before the tables change', { safetyCopy });
  };
  if (database === undefined) await keepOlder(sqliteVersions(data.path));
  const keyFile = settings.instanceKey === undefined ? data.at('instance.key') : undefined;
  const instanceKey = openInstanceKey(data.at('instance.key'), settings.instanceKey, settings.nextInstanceKey);
  const { db: plain } = unwind.use(
    await openMetadata<CloudTables>({
      file: data.at('meta.sqlite'),
      database,
      installationFile: data.at('postgres.json'),
      beforeMigration: database === undefined ? undefined : () => keepInPostgres(database, data, keepOlder),
      migrations: tables.meta,
      clock,
      log: log.child('metadata'),
      onFatal,
    }),
  );
  const db = plain.withPlugin(sealedDocumentsPlugin(instanceKey));
  const rows = unwind.use(
    createRowWatch({
      db: plain,
      tables: checkedTablesOf(tables.meta),
      kind: settings.databaseUrl === undefined ? 'sqlite' : 'postgres',
      openReader: (signal) =>
        openRowReader({ file: data.at('meta.sqlite'), database: settings.databaseUrl }, clock, signal),
      clock,
      log: log.child('metadata'),
    }),
  );
  await selectInstanceKey(db, instanceKey);
  const sealDocuments = (again: boolean): Promise<number> =>
    sealStoredDocuments({ db, ring: instanceKey, log, clock, again });
  await sealDocuments(instanceKey.known.length > 1);
  const resealed = await finishRotation({ db, ring: instanceKey, columns: sealedColumns, file: keyFile });
  if (resealed > 0) log.info('a rotation of the instance key was completed', { resealed });
  if (isOld) {
    data.upgraded();
    log.info('the data directory has been upgraded', { from: data.foundVersion, to: dataVersion });
  }
  const opened = unwind.move();
  return {
    data,
    db,
    rows,
    instanceKey,
    keyFile,
    safetyCopy,
    sealDocuments: () => sealDocuments(true),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
