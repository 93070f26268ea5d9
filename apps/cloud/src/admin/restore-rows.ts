/**
 * The rows of a lost file out of the files that a backup has in its place: those that were merged into it since. They are written into a
 * file of their own, which is taken only if everything that the catalog says of the lost one is true of it: rows, bytes, positions,
 * times and paths.
 */
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetFormat } from '../tabular/parquet-format.ts';
import { checksumFile } from '../tabular/process/checksum-file.ts';
import { openDatabase } from '../tabular/process/database.ts';
import { mergeFiles } from '../tabular/process/merge-files.ts';
import type { SealedFile } from '../tabular/process/messages.ts';
import type { FileRow } from '../tabular/row-check.ts';

export interface RestoreRowsOptions {
  readonly row: FileRow;
  readonly backup: string;
  /** SHA-256 by path below the backup. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Is made, and left with the new file and its sources in it. */
  readonly workDir: string;
}

/** Undefined: the backup does not have exactly these rows. The file lies in workDir. */
export async function restoreRows(options: RestoreRowsOptions): Promise<SealedFile | undefined> {
  const { row, workDir } = options;
  await rm(workDir, { recursive: true, force: true });
  await mkdir(workDir, { recursive: true, mode: 0o700 });
  const sources = await takeSources(options);
  if (sources.length === 0) return undefined;
  const database = openDatabase({ parquetDir: workDir, memoryBytes: 1 << 30, threads: 2 });
  const connection = await database.connect();
  try {
    const within: string[] = [];
    let rows = 0;
    for (const file of sources) {
      const read = await connection.runAndReadAll(
        'SELECT min(organization_id), max(organization_id), min(position), max(position), count(*) FROM read_parquet($1)',
        [join(workDir, file)],
      );
      const [least, greatest, first, last, count] = read.getRows()[0] as [string, string, bigint, bigint, bigint];
      if (least !== row.organization_id || greatest !== least) continue;
      if (first < BigInt(row.min_position) || last > BigInt(row.max_position)) continue;
      within.push(file);
      rows += Number(count);
    }
    if (rows !== row.rows) return undefined;
    const refs = within.map((file) => ({ file, format: parquetFormat, captureDay: row.capture_day }));
    const settings = { database, parquetDir: workDir, hotDirectory: workDir, fileBytes: Number.MAX_SAFE_INTEGER };
    const written = await mergeFiles(connection, refs, [], settings);
    const [file, ...others] = written.kind === 'files' ? written.files : [];
    return file !== undefined && others.length === 0 && isAsListed(file, row) ? file : undefined;
  } finally {
    connection.closeSync();
  }
}

/** Files of the day that are in the backup as it says. */
async function takeSources({ row, backup, hashes, workDir }: RestoreRowsOptions): Promise<string[]> {
  const taken: string[] = [];
  const names = await readdir(join(backup, 'parquet')).catch((): string[] => []);
  for (const file of names.toSorted()) {
    const listed = hashes.get(`parquet/${file}`);
    if (!file.startsWith(`${row.capture_day}-`) || listed === undefined) continue;
    await copyFile(join(backup, 'parquet', file), join(workDir, file));
    if ((await checksumFile(join(workDir, file))).sha256 === listed) taken.push(file);
  }
  return taken;
}

function isAsListed(file: SealedFile, row: FileRow): boolean {
  return (
    file.organizationId === row.organization_id &&
    file.captureDay === row.capture_day &&
    file.rows === row.rows &&
    file.logicalBytes === row.logical_bytes &&
    file.minPosition === row.min_position &&
    file.maxPosition === row.max_position &&
    file.minTimeReceived === row.min_time_received &&
    file.maxTimeReceived === row.max_time_received &&
    file.minTimeRequested === row.min_time_requested &&
    file.maxTimeRequested === row.max_time_requested &&
    sorted(file.pathSets) === sorted(JSON.parse(row.path_sets))
  );
}

function sorted(sets: Readonly<Record<string, readonly string[]>>): string {
  const columns = Object.entries(sets).map(([column, values]) => [column, values.toSorted()] as const);
  return JSON.stringify(columns.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
