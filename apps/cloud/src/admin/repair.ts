/**
 * `platform admin repair`: mends what the doctor finds of readings. Rows of the catalog come back out of their second copies, files out of
 * a backup; a file that nobody has any more leaves the list only when its loss is accepted, and moves to `parquet/quarantine/`.
 *
 * It reads the files itself, in the process of the command; what it changes in the catalog it asks of the process that has it open.
 * Every step can be repeated after a kill at any instant.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from '../backup/manifest.ts';
import type { LogLoss } from '../ingest/log.ts';
import type { CatalogRows } from '../tabular/catalog-findings.ts';
import { checksumFile } from '../tabular/process/checksum-file.ts';
import type { RepairedCatalog } from '../tabular/repair-catalog.ts';
import type { FileRow } from '../tabular/row-check.ts';
import { checkFiles } from './check-files.ts';

export interface RepairOptions {
  readonly parquetDir: string;
  readonly catalog: () => Promise<CatalogRows>;
  /** Asked of the process that has the catalog open. */
  readonly ask: (operation: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** A backup to take files from. */
  readonly from?: string | undefined;
  /** Files that cannot be restored leave the list. */
  readonly acceptLoss: boolean;
  /** False: says what it would do, and changes nothing. */
  readonly apply: boolean;
  readonly progress: (text: string) => void;
}

export interface Repaired {
  /** A file, or a row of the catalog. */
  readonly what: string;
  readonly damage: string;
  readonly outcome: 'restored' | 'can be restored' | 'lost' | 'loss accepted' | 'not mended';
  readonly detail: string;
  readonly organizationId?: string;
  readonly captureDay?: string;
  readonly rows?: number;
  /** Milliseconds since 1970, of time_received. */
  readonly firstMs?: number | null;
  readonly lastMs?: number | null;
}

export const quarantine = 'quarantine';

export async function repair(options: RepairOptions): Promise<Repaired[]> {
  const { parquetDir, apply, progress } = options;
  const report = [...(await mendCatalog(options)), ...(await settleLosses(options))];
  const { wrong } = await checkFiles(parquetDir, options.catalog, true, progress);
  if (wrong.size === 0) return report;
  const rows = new Map((await options.catalog()).files.map((row) => [row.file, row]));
  const hashes = options.from === undefined ? undefined : hashesOf(options.from);
  for (const [file, damage] of wrong) {
    const row = rows.get(file);
    if (row === undefined) continue;
    const source = await sourceOf(row, options.from, hashes);
    const about = aboutRow(row, damage);
    if (source !== undefined) {
      if (apply) await restore(options, row, source);
      report.push({ ...about, outcome: apply ? 'restored' : 'can be restored', detail: `from ${source}` });
    } else if (await restoreFromOthers(options, row, hashes)) {
      const detail = `from files of ${options.from} that were merged into it`;
      report.push({ ...about, outcome: apply ? 'restored' : 'can be restored', detail });
    } else if (options.acceptLoss && apply) {
      await giveUp(options, file);
      report.push({ ...about, outcome: 'loss accepted', detail: `kept as parquet/${quarantine}/${file}` });
    } else report.push({ ...about, outcome: 'lost', detail: 'no backup given has it; see --from and --accept-loss' });
  }
  return report;
}

async function mendCatalog({ ask, apply }: RepairOptions): Promise<Repaired[]> {
  const { mended, left } = (await ask('repair.catalog', { apply })) as RepairedCatalog;
  return [
    ...mended.map(
      (damage): Repaired => ({
        what: 'catalog',
        damage,
        outcome: apply ? 'restored' : 'can be restored',
        detail: 'from the second copy of the row',
      }),
    ),
    ...left.map(
      ({ text }): Repaired => ({
        what: 'catalog',
        damage: text,
        outcome: 'not mended',
        detail: 'row and copy are both damaged: restore a backup into a new directory',
      }),
    ),
  ];
}

/** What the ingest log lost: nothing but a person's word ends that. */
async function settleLosses({ ask, acceptLoss, apply }: RepairOptions): Promise<Repaired[]> {
  const accepts = acceptLoss && apply;
  const { losses } = (await ask('repair.losses', { accept: accepts })) as { losses: readonly LogLoss[] };
  return losses.map(
    ({ lossIn, first, last, parts, reason }): Repaired => ({
      what: `ingest log ${first === last ? first : `${first}–${last}`}`,
      damage: `${reason} (${lossIn}${parts === null ? '' : `; part ${parts.join(', ')}`})`,
      outcome: accepts ? 'loss accepted' : 'lost',
      detail: accepts ? 'queries answer without it' : 'restore a backup into a new directory, or see --accept-loss',
    }),
  );
}

function hashesOf(backup: string): ReadonlyMap<string, string> {
  return new Map(readManifest(backup).files.map(({ path, sha256 }) => [path, sha256]));
}

/** Where the file is as it was written; undefined: nowhere that we know of. */
async function sourceOf(
  row: FileRow,
  backup: string | undefined,
  hashes: ReadonlyMap<string, string> | undefined,
): Promise<string | undefined> {
  const listed = hashes?.get(`parquet/${row.file}`);
  if (backup === undefined || listed === undefined) return undefined;
  const path = join(backup, 'parquet', row.file);
  if (!existsSync(path)) return undefined;
  const { bytes, sha256 } = await checksumFile(path);
  return bytes === row.file_bytes && sha256 === listed && (row.sha256 === null || row.sha256 === sha256)
    ? path
    : undefined;
}

/** The name leads to the whole file or to the damaged one, never to a part. */
async function restore({ parquetDir, ask }: RepairOptions, { file }: FileRow, source: string): Promise<void> {
  const aside = join(parquetDir, quarantine, `${file}.restoring`);
  await mkdir(join(parquetDir, quarantine), { recursive: true, mode: 0o700 });
  await rm(aside, { force: true });
  await copyFile(source, aside);
  await sync(aside);
  await rename(aside, join(parquetDir, file)).catch(async () => {
    // Something that is no file is in its place.
    await rm(join(parquetDir, file), { force: true, recursive: true });
    await rename(aside, join(parquetDir, file));
  });
  await sync(parquetDir);
  await ask('repair.restored', { file, from: source });
}

/** Out of the files of a backup that were merged into it since. */
async function restoreFromOthers(
  { parquetDir, from: backup, ask, apply }: RepairOptions,
  row: FileRow,
  hashes: ReadonlyMap<string, string> | undefined,
): Promise<boolean> {
  if (backup === undefined || hashes === undefined) return false;
  // DuckDB is code that most repairs never need.
  const { restoreRows } = await import('./restore-rows.ts');
  const workDir = join(parquetDir, quarantine, 'restoring');
  try {
    const file = await restoreRows({ row, backup, hashes, workDir });
    if (file === undefined || !apply) return file !== undefined;
    await rename(join(workDir, file.file), join(parquetDir, file.file));
    await sync(parquetDir);
    await ask('repair.replaced', { file: row.file, as: JSON.stringify(file), from: backup });
    await moveAside(parquetDir, row.file);
    return true;
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function giveUp({ parquetDir, ask }: RepairOptions, file: string): Promise<void> {
  // Until the catalog has let go of it, it is as damaged as before: missing.
  await moveAside(parquetDir, file);
  await ask('repair.unlist', { file });
}

async function moveAside(parquetDir: string, file: string): Promise<void> {
  await mkdir(join(parquetDir, quarantine), { recursive: true, mode: 0o700 });
  await rename(join(parquetDir, file), join(parquetDir, quarantine, file)).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'ENOENT') throw caught;
  });
  await sync(parquetDir);
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

function aboutRow(row: FileRow, damage: string): Omit<Repaired, 'outcome' | 'detail'> {
  const ms = (time: number | null): number | null => (time === null ? null : Math.floor(time / 1_000));
  return {
    what: `parquet/${row.file}`,
    damage,
    organizationId: row.organization_id,
    captureDay: row.capture_day,
    rows: row.rows,
    firstMs: ms(row.min_time_received),
    lastMs: ms(row.max_time_received),
  };
}
