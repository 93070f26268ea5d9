/**
 * Restores the rows of lost files from other sources: files of a backup that were later merged into them, the ingest log of a backup, and
 * the current ingest log. The sealing code writes them to new files. The result is accepted only if the new files together match everything
 * that the catalog records for the lost files: rows, bytes, positions, times and paths.
 */

import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { hasFile } from '../../backup/listed-files.ts';
import { fileRowOf } from '../../tabular/catalog/file-row.ts';
import type { Delete } from '../../tabular/catalog/row-filter.ts';
import type { CheckedFile, FileRow } from '../../tabular/integrity/row-checksum.ts';
import { readRows } from '../../tabular/process/duckdb/database.ts';
import { checksumFile } from '../../tabular/process/files/checksum-file.ts';
import { readFacts } from '../../tabular/process/files/file-facts.ts';
import { type Slice, wholeFile } from '../../tabular/process/files/slice.ts';
import { logSlices } from '../../tabular/process/log/log-slices.ts';
import type { SealedFile } from '../../tabular/process/messages.ts';
import { existingRows } from './existing-rows.ts';
import { openWorkDatabase, repairLimits, writeRestored } from './write-restored.ts';

export interface RestoreRowsOptions {
  /** All of one organization and day. */
  readonly lost: readonly FileRow[];
  /** Undamaged files of the same organization, day and positions: their rows are omitted. */
  readonly kept: readonly KeptFile[];
  /** With the SHA-256 of each file, by path. */
  readonly backup: { readonly directory: string; readonly hashes: ReadonlyMap<string, string> } | undefined;
  /** Logs with the names shown to people. If several contain a position, the first one is used. */
  readonly logs: readonly LogToRead[];
  /** Deletions listed in the catalog: rows that they cover may be missing from the lost files. */
  readonly deletes: readonly Delete[];
  /** Created here; contains the new files and their sources afterwards. */
  readonly workDir: string;
}

export interface KeptFile {
  readonly row: FileRow;
  /** Path of a copy with its original bytes. */
  readonly path: string;
}

export interface LogToRead {
  readonly name: string;
  /** Undamaged rows, both ends included. */
  rows(first: number, last: number): AsyncIterable<{ readonly position: number; readonly batch: Uint8Array }>;
}

export type RestoredRows =
  /** The files are in workDir. */
  | { readonly files: readonly SealedFile[]; readonly from: string }
  /** No combination of sources has exactly these rows. */
  | { readonly reason: string };

export async function restoreRows(options: RestoreRowsOptions): Promise<RestoredRows> {
  const { lost, kept, backup, logs, deletes, workDir } = options;
  const [{ organization_id: organizationId, capture_day: captureDay } = { organization_id: '', capture_day: '' }] =
    lost;
  const first = Math.min(...lost.map((row) => row.min_position));
  const last = Math.max(...lost.map((row) => row.max_position));
  const connection = await openWorkDatabase(workDir);
  try {
    const from = new Set<string>();
    const slices: Slice[] = [];
    for (const path of await takeSources(options)) {
      const slice = await sliceWithin(connection, path, captureDay, { organizationId, first, last });
      if (slice === undefined) continue;
      slices.push(slice);
      from.add(`files of ${backup?.directory}`);
    }
    const others = slices.map(({ path }) => path);
    for (const { row, path } of kept) {
      await copyFile(path, join(workDir, row.file));
      others.push(join(workDir, row.file));
    }
    const isHeld = await existingRows(connection, others);
    const uploads = uploadsOf(logs, first, last, from);
    slices.push(
      ...(await logSlices(connection, {
        ...{ only: { organizationId, captureDay }, uploads, isHeld },
        ...{ directory: workDir, limits: repairLimits() },
      })),
    );
    const found = slices.reduce((sum, { rows }) => sum + rows, 0);
    if (found > 0)
      for (const removed of [[], ...(deletes.length > 0 ? [deletes] : [])]) {
        const { files } = await writeRestored(connection, slices, { workDir, deletes: removed });
        if (matchesCatalog(files, lost)) return { files, from: [...from].join(' and ') };
        for (const { file } of files) await rm(join(workDir, file));
      }
    const wanted = lost.reduce((sum, { rows }) => sum + rows, 0);
    const where = backup === undefined ? 'the ingest log has' : 'backup and ingest log have';
    return {
      reason:
        found < wanted
          ? `${where} ${found} of its ${wanted} rows`
          : `${where} ${found} rows at its positions, which differ from the ${wanted} in the catalog`,
    };
  } finally {
    connection.closeSync();
  }
}

/** Paths of the day's files in the backup that are undamaged, except those that are undamaged here. */
async function takeSources({ lost, kept, backup, workDir }: RestoreRowsOptions): Promise<string[]> {
  if (backup === undefined) return [];
  const day = lost[0]?.capture_day ?? '';
  const taken: string[] = [];
  const names = await readdir(join(backup.directory, 'parquet')).catch((): string[] => []);
  for (const file of names.toSorted()) {
    const listed = backup.hashes.get(`parquet/${file}`);
    if (!file.startsWith(`${day}-`) || listed === undefined || kept.some(({ row }) => row.file === file)) continue;
    if (!(await hasFile(backup.directory, `parquet/${file}`))) continue;
    const path = join(workDir, file);
    await copyFile(join(backup.directory, 'parquet', file), path);
    if ((await checksumFile(path)).sha256 === listed) taken.push(path);
  }
  return taken;
}

/** Undefined: the file contains rows other than the wanted ones. */
async function sliceWithin(
  connection: DuckDBConnection,
  path: string,
  captureDay: string,
  wanted: { readonly organizationId: string; readonly first: number; readonly last: number },
): Promise<Slice | undefined> {
  const facts = (await readFacts(connection, [path]).catch(() => undefined))?.get(path);
  if (facts?.series[0]?.path.organization_id !== wanted.organizationId) return undefined;
  const [row] = await readRows(connection, 'SELECT min(position), max(position) FROM read_parquet($1)', [path]);
  const [least, greatest] = [Number(row?.[0]), Number(row?.[1])];
  return least >= wanted.first && greatest <= wanted.last ? wholeFile(path, captureDay, facts) : undefined;
}

async function* uploadsOf(
  logs: readonly LogToRead[],
  first: number,
  last: number,
  from: Set<string>,
): AsyncGenerator<{ readonly position: number; readonly batch: Uint8Array }> {
  const had = new Set<number>();
  for (const { name, rows } of logs)
    for await (const row of rows(first, last)) {
      if (had.has(row.position)) continue;
      had.add(row.position);
      from.add(name);
      yield row;
    }
}

/** Whether some files together contain what the catalog records for other files. */
function matchesCatalog(files: readonly SealedFile[], rows: readonly CheckedFile[]): boolean {
  return files.length > 0 && together(files.map((file) => fileRowOf(file, 0))) === together(rows);
}

function together(files: readonly CheckedFile[]): string {
  const sum = (of: (file: CheckedFile) => number): number => files.reduce((total, file) => total + of(file), 0);
  // A row without the time makes the minimum null; the maximum is null only if no row has the time.
  const least = (times: readonly (number | null)[]): number | null =>
    times.includes(null) ? null : Math.min(...times.map(Number));
  const greatest = (times: readonly (number | null)[]): number | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  const paths = new Map<string, Set<string>>();
  for (const { path_sets } of files)
    for (const [column, values] of Object.entries<string[]>(JSON.parse(path_sets)))
      paths.set(column, (paths.get(column) ?? new Set()).union(new Set(values)));
  return JSON.stringify([
    [...new Set(files.map((file) => `${file.organization_id} ${file.capture_day}`))],
    sum(({ rows }) => rows),
    sum(({ logical_bytes }) => logical_bytes),
    Math.min(...files.map(({ min_position }) => min_position)),
    Math.max(...files.map(({ max_position }) => max_position)),
    least(files.map(({ min_time_received }) => min_time_received)),
    greatest(files.map(({ max_time_received }) => max_time_received)),
    least(files.map(({ min_time_requested }) => min_time_requested)),
    greatest(files.map(({ max_time_requested }) => max_time_requested)),
    [...paths].map(([column, values]) => `${column} ${JSON.stringify([...values].toSorted())}`).toSorted(),
  ]);
}
