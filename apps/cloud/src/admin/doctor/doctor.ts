/**
 * `platform admin doctor`: checks that data that belongs together is complete. It changes nothing.
 *
 * It reads the databases in the process of the command: reading them completely would block a running cloud.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dataLoss, errorText } from '@platform/base';
import { payloadsSql } from '../../binary/store.ts';
import { LogReader } from '../../ingest/log/log-reader.ts';
import { blobPathsSql } from '../../ingest/log/log-tables.ts';
import { migrations } from '../../metadata/migrations.ts';
import { checkedTablesOf } from '../../metadata/row-checks/checked-tables-of.ts';
import { findRowDamage } from '../../metadata/row-checks/find-row-damage.ts';
import { openRowReader } from '../../metadata/row-checks/open-row-reader.ts';
import { packagePayloadsSql } from '../../packages/store.ts';
import { type CatalogRows, catalogFindings, catalogTables } from '../../tabular/integrity/catalog-findings.ts';
import { checkFiles, counted, describeFiles } from './check-files.ts';
import { checkLog, describeLosses } from './check-log.ts';
import { checkPayloads } from './check-payloads.ts';
import { type DoctorStore, followedSql, payloadOf } from './doctor-store.ts';

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** What was checked, or the problem and its remedy. */
  readonly found: string;
}

export interface DoctorOptions {
  readonly dataDirectory: string;
  /** `postgres://…`; used if the installation is in Postgres. */
  readonly database?: string | undefined;
  /** Resolves to what was checked, or throws the problem. Runs in the process that has the key. */
  readonly checkSecrets: () => Promise<string>;
  readonly freeBytes: () => Promise<number>;
  /** Whether to read every file and compare it with its checksum. */
  readonly deep: boolean;
  readonly progress: (text: string) => void;
}

const fewBytes = 1024 * 1024 * 1024;
const shown = 3;

export async function doctor(options: DoctorOptions): Promise<Finding[]> {
  const { dataDirectory } = options;
  const keyFile = join(dataDirectory, 'instance.key');
  const findings: Finding[] = [];
  const check = async (name: string, look: () => Promise<string> | string): Promise<void> => {
    try {
      findings.push({ check: name, ok: true, found: await look() });
    } catch (caught) {
      findings.push({ check: name, ok: false, found: errorText(caught) });
    }
  };
  const store = await openDoctorStore(dataDirectory, options.database);
  for (const { name, look } of store.checks) await check(name, look);
  const { deep, progress } = options;
  await check('the catalog of readings is as it was written', () => soundCatalog(store));
  await check(deep ? 'the listed files are as they were written' : 'the listed files exist', async () =>
    describeFiles(await checkFiles(join(dataDirectory, 'parquet'), store.catalog, deep, progress), deep),
  );
  await check('the payloads exist', () => payloads(dataDirectory, store));
  if (deep) {
    await check('pictures and files are as they were stored', () =>
      checkPayloads(join(dataDirectory, 'blobs'), store.listedPayloads, progress),
    );
    await check('the rows of accounts, money and what is served are as they were written', () => soundRows(store));
    await check('the ingest log is as it was written', () => store.log(checkLog));
  } else
    await check('no upload is lost from the ingest log', () =>
      store.log(async (log) => describeLosses(await log.losses())),
    );
  await check('secrets can be decrypted with the instance key', options.checkSecrets);
  await check('no one else can read the data directory', () =>
    modesOf([dataDirectory, ...(existsSync(keyFile) ? [keyFile] : [])]),
  );
  await check('there is space on the disk', () => room(options));
  return findings;
}

/** @param database `postgres://…`; used if the installation is in Postgres. */
export async function openDoctorStore(dataDirectory: string, database: string | undefined): Promise<DoctorStore> {
  return existsSync(join(dataDirectory, 'postgres.json'))
    ? (await import('./doctor-in-postgres.ts')).inPostgres(dataDirectory, database)
    : inSqlite(dataDirectory);
}

function quickCheck(file: string): string {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  const rows = db
    .prepare('pragma quick_check(10)')
    .all()
    .map((row) => String(row['quick_check']));
  if (rows.length === 1 && rows[0] === 'ok') return 'SQLite finds nothing wrong';
  throw new Error(
    `expected an undamaged database, found: ${rows.join('; ')}. Restore a backup into a new directory: platform admin restore BACKUP --data DIR`,
  );
}

function inSqlite(dataDirectory: string): DoctorStore {
  const read = (name: string, sql: string): Record<string, unknown>[] => {
    using db = new DatabaseSync(join(dataDirectory, name), { readOnly: true, timeout: 10_000 });
    return db.prepare(sql).all();
  };
  return {
    checks: ['meta.sqlite', 'ingest.sqlite'].map((name) => ({
      name: `${name} is sound`,
      look: async () => quickCheck(join(dataDirectory, name)),
    })),
    catalog: async () => {
      using db = new DatabaseSync(join(dataDirectory, 'meta.sqlite'), { readOnly: true, timeout: 10_000 });
      db.exec('begin');
      const rows: Partial<Record<keyof CatalogRows, unknown>> = {};
      for (const [name, table] of Object.entries(catalogTables))
        rows[name as keyof CatalogRows] = db.prepare(`select * from ${table}`).all();
      return rows as unknown as CatalogRows;
    },
    payloads: async () => read('ingest.sqlite', blobPathsSql).map((row) => String(row['path'])),
    rows: async () => {
      const file = join(dataDirectory, 'meta.sqlite');
      await using reader = await openRowReader({ file, database: undefined }, undefined, new AbortController().signal);
      return await findRowDamage(reader, checkedTablesOf(migrations));
    },
    listedPayloads: async () =>
      [payloadsSql, packagePayloadsSql].flatMap((sql) => read('meta.sqlite', sql).map(payloadOf)),
    async log(look) {
      const positions = followedSql.flatMap((sql) => read('meta.sqlite', sql).map((row) => Number(row['position'])));
      using log = new LogReader(join(dataDirectory, 'ingest.sqlite'));
      return await look(log, Math.min(...positions));
    },
  };
}

async function soundCatalog(store: DoctorStore): Promise<string> {
  const rows = await store.catalog();
  const findings = catalogFindings(rows).map(({ organizationId, text }) =>
    organizationId === null ? text : `organization ${organizationId}: ${text}`,
  );
  if (findings.length > 0)
    throw dataLoss(
      `expected the rows of the catalog as they were written, found ${findings.length} faults (${findings.slice(0, 20).join('; ')}${findings.length > 20 ? '; …' : ''}). Repair them with platform admin repair`,
    );
  return `${counted(rows.files.length, 'file')}, ${counted(rows.deletes.length, 'deletion')}`;
}

async function soundRows(store: DoctorStore): Promise<string> {
  const { rows, damages } = await store.rows();
  if (damages.length === 0) return counted(rows, 'row');
  const shownDamages = damages.slice(0, 20).map(({ text }) => text);
  throw dataLoss(
    `expected the rows as they were written, found ${damages.length} faults (${shownDamages.join('; ')}${damages.length > 20 ? '; …' : ''}). Restore a backup into a new directory, or accept the rows as they are with platform admin repair --accept-loss`,
  );
}

async function payloads(dataDirectory: string, store: DoctorStore): Promise<string> {
  const paths = await store.payloads();
  complain(
    paths.filter((path) => sizeOf(join(dataDirectory, 'blobs', ...path.split('/'))) === undefined),
    paths.length,
    'payloads',
  );
  return `${paths.length} payloads`;
}

function complain(missing: readonly string[], of: number, what: string): void {
  if (missing.length === 0) return;
  throw new Error(
    `expected ${of} ${what}, found ${missing.length} of them missing or of another size (${missing.slice(0, shown).join(', ')}${missing.length > shown ? ', …' : ''}). Restore them from a backup with platform admin repair --from BACKUP --apply`,
  );
}

function modesOf(paths: readonly string[]): string {
  const open = paths.filter((path) => (statSync(path).mode & 0o077) !== 0);
  if (open.length > 0)
    throw new Error(`expected ${open.join(' and ')} to be readable only by the owner: run chmod go= on it`);
  return 'only its owner';
}

async function room({ freeBytes }: DoctorOptions): Promise<string> {
  const free = await freeBytes();
  const text = `${Math.floor(free / (1024 * 1024))} MiB free`;
  if (free < fewBytes)
    throw new Error(
      `expected at least ${fewBytes / (1024 * 1024)} MiB, found ${text}: uploads are refused below 512 MiB`,
    );
  return text;
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
