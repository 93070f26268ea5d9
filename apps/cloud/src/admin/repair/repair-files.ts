/**
 * Repair: restores each damaged file of readings from a backup, or restores its rows from other sources. A file without any source is
 * removed from the list only if its loss is accepted; it is then moved to `parquet/quarantine/`.
 */
import { lstatSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repaired } from '@platform/base';
import { hasFile } from '../../backup/listed-files.ts';
import { readBackedUpLog } from '../../backup/read-backed-up-log.ts';
import { syncPath } from '../../instance/sync-path.ts';
import type { DeletePredicate } from '../../tabular/catalog/row-filter.ts';
import type { CatalogRows } from '../../tabular/integrity/catalog-findings.ts';
import type { FileRow } from '../../tabular/integrity/row-checksum.ts';
import { checksumFile } from '../../tabular/process/files/checksum-file.ts';
import { checkFiles } from '../doctor/check-files.ts';
import type { LogToCheck } from '../doctor/check-log.ts';
import type { Backup } from './open-backup.ts';
import type { RepairOptions } from './repair.ts';
import type { KeptFile, LogToRead, RestoredRows } from './restore-rows.ts';

export const quarantine = 'quarantine';

export async function repairFiles(options: RepairOptions, backup: Backup | undefined): Promise<Repaired[]> {
  const { parquetDir, store, apply, acceptLoss, progress } = options;
  const { wrong } = await checkFiles(parquetDir, store.catalog, true, progress);
  if (wrong.size === 0) return [];
  const catalog = await store.catalog();
  const damaged = catalog.files.filter(({ file }) => wrong.has(file));
  const report = new Map<FileRow, Pick<Repaired, 'outcome' | 'detail'>>();
  const sources = new Map<FileRow, string>();
  const restored = apply ? 'restored' : 'can be restored';
  for (const row of damaged) {
    const source = await sourceOf(row, backup);
    if (source === undefined) continue;
    sources.set(row, source);
    if (apply) await restore(options, row, source);
    report.set(row, { outcome: restored, detail: `from ${source}` });
  }
  const lost = damaged.filter((row) => !report.has(row));
  const sound = catalog.files
    .filter((row) => !lost.includes(row))
    .map((row) => ({ row, path: sources.get(row) ?? join(parquetDir, row.file) }));
  for (const group of together(lost)) {
    const rows = await restoreTogether(options, { group, sound, catalog, backup });
    for (const row of group)
      if ('from' in rows) report.set(row, { outcome: restored, detail: `its rows from ${rows.from}` });
      else if (acceptLoss) report.set(row, await giveUp(options, row.file));
      else report.set(row, { outcome: 'lost', detail: `${rows.reason}; see --from and --accept-loss` });
  }
  return damaged.flatMap((row) => {
    const said = report.get(row);
    return said === undefined ? [] : [{ ...aboutRow(row, wrong.get(row.file) ?? ''), ...said }];
  });
}

/** Groups of files whose rows cannot be distinguished by their positions. */
function together(rows: readonly FileRow[]): FileRow[][] {
  const groups: FileRow[][] = [];
  const key = (row: FileRow): string => JSON.stringify([row.organization_id, row.capture_day]);
  for (const row of rows.toSorted((a, b) => a.min_position - b.min_position)) {
    const group = groups.find((others) => others.some((other) => key(other) === key(row) && overlap(other, row)));
    if (group === undefined) groups.push([row]);
    else group.push(row);
  }
  return groups;
}

function overlap(a: FileRow, b: FileRow): boolean {
  return a.min_position <= b.max_position && b.min_position <= a.max_position;
}

/** Path of an undamaged copy of the file; undefined: none is known. */
async function sourceOf(row: FileRow, backup: Backup | undefined): Promise<string | undefined> {
  const listed = backup?.hashes.get(`parquet/${row.file}`);
  if (backup === undefined || listed === undefined) return undefined;
  const path = join(backup.directory, 'parquet', row.file);
  if (!(await hasFile(backup.directory, `parquet/${row.file}`))) return undefined;
  const { bytes, sha256 } = await checksumFile(path);
  return bytes === row.file_bytes && sha256 === listed && (row.sha256 === null || row.sha256 === sha256)
    ? path
    : undefined;
}

/** The name always refers to the complete file or to the damaged one, never to a partial copy. */
async function restore({ parquetDir, ask }: RepairOptions, { file }: FileRow, source: string): Promise<void> {
  const aside = join(parquetDir, quarantine, `${file}.restoring`);
  await mkdir(join(parquetDir, quarantine), { recursive: true, mode: 0o700 });
  await rm(aside, { force: true });
  await copyFile(source, aside);
  await syncPath(aside);
  await rename(aside, join(parquetDir, file)).catch(async () => {
    // The path is taken by something that is not a file.
    await rm(join(parquetDir, file), { force: true, recursive: true });
    await rename(aside, join(parquetDir, file));
  });
  await syncPath(parquetDir);
  await ask('repair.restored', { file, from: source });
}

interface Group {
  readonly group: readonly FileRow[];
  readonly sound: readonly KeptFile[];
  readonly catalog: CatalogRows;
  readonly backup: Backup | undefined;
}

async function restoreTogether(
  { parquetDir, store, ask, apply }: RepairOptions,
  { group, sound, catalog, backup }: Group,
): Promise<RestoredRows> {
  // Load DuckDB only here: most repairs never need it.
  const { restoreRows } = await import('./restore-rows.ts');
  const workDir = join(parquetDir, quarantine, 'restoring');
  const [{ organization_id: organizationId, capture_day: day } = { organization_id: '', capture_day: '' }] = group;
  const isOurs = (row: { readonly organization_id: string }): boolean => row.organization_id === organizationId;
  try {
    const restored = await store.log((log) =>
      restoreRows({
        lost: group,
        kept: sound.filter(
          ({ row }) => isOurs(row) && row.capture_day === day && group.some((each) => overlap(each, row)),
        ),
        backup,
        logs: [logOf(log), ...(backup === undefined ? [] : [logOfBackup(backup)])],
        deletes: catalog.deletes.filter(isOurs).map((row) => ({
          predicate: JSON.parse(row.predicate) as DeletePredicate,
          upTo: row.up_to,
        })),
        workDir,
      }),
    );
    if ('reason' in restored || !apply) return restored;
    const { files, from } = restored;
    for (const { file } of files) await rename(join(workDir, file), join(parquetDir, file));
    await syncPath(parquetDir);
    const replaced = group.map(({ file }) => file);
    await ask('repair.replaced', { files: JSON.stringify(replaced), as: JSON.stringify(files), from });
    for (const file of replaced) await moveAside(parquetDir, file);
    return restored;
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

const atOnce = { rows: 1_000, bytes: 16 << 20 };

function logOf(log: LogToCheck): LogToRead {
  return {
    name: 'the ingest log',
    async *rows(first, last) {
      for (let after = first - 1; after < last; ) {
        const rows = await log.read(after, atOnce);
        yield* rows.filter(({ position, damage }) => position <= last && damage === undefined);
        after = rows.at(-1)?.position ?? last;
      }
    },
  };
}

function logOfBackup({ directory, manifest }: Backup): LogToRead {
  return {
    name: `the ingest log of ${directory}`,
    rows: (first, last) => readBackedUpLog(directory, manifest, first, last),
  };
}

async function giveUp(
  { parquetDir, ask, apply }: RepairOptions,
  file: string,
): Promise<Pick<Repaired, 'outcome' | 'detail'>> {
  const isThere = lstatSync(join(parquetDir, file), { throwIfNoEntry: false }) !== undefined;
  const kept = (verb: string): string =>
    isThere ? `${verb} as parquet/${quarantine}/${file}` : 'nothing is kept: the file is missing';
  if (!apply) return { outcome: 'would be given up', detail: kept('would be kept') };
  // Until the catalog removes it, the file is reported as missing, which is no better or worse than damaged.
  if (isThere) await moveAside(parquetDir, file);
  await ask('repair.unlist', { file });
  return { outcome: 'loss accepted', detail: kept('kept') };
}

/** Restored files are prepared in this directory; most repairs leave it empty. */
export async function removeEmptyQuarantine(parquetDir: string): Promise<void> {
  await rmdir(join(parquetDir, quarantine)).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'ENOENT' && caught.code !== 'ENOTEMPTY') throw caught;
  });
}

async function moveAside(parquetDir: string, file: string): Promise<void> {
  await mkdir(join(parquetDir, quarantine), { recursive: true, mode: 0o700 });
  await rename(join(parquetDir, file), join(parquetDir, quarantine, file)).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'ENOENT') throw caught;
  });
  await syncPath(parquetDir);
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
