/**
 * Writes a frozen segment to Parquet files, one or more for each organization and capture day (I9).
 *
 * Each file is written under a temporary name, synced, renamed; then the directory is synced. Only after all of that does the caller
 * report the files; until the catalog lists them they do not exist, and a start removes them.
 */
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { newId } from '@platform/base';
import type { Series } from '../series.ts';
import { dayText } from './capture-day.ts';
import { checksumFile } from './checksum-file.ts';
import type { Database } from './database.ts';
import type { SealedFile } from './messages.ts';
import { writeParquet } from './parquet-file.ts';
import { readSealedFile } from './sealed-file.ts';
import type { Segment } from './segment.ts';
import { shredRows } from './shred/shred-rows.ts';
import { describeSeries, type RowRange, rowsOf, sortRows } from './sorted-rows.ts';

/** What goes into the same files. */
interface Group {
  readonly day: number;
  /** Segment numbers of its series, in the order in which the files sort them. */
  readonly numbers: number[];
  rows: number;
  dataBytes: number;
}

export interface SealOptions {
  readonly database: Database;
  readonly parquetDir: string;
  /** BSON bytes that go into one file. */
  readonly fileBytes: number;
}

export async function sealSegment(
  connection: DuckDBConnection,
  segment: Segment,
  options: SealOptions,
): Promise<SealedFile[]> {
  const written: string[] = [];
  try {
    const files: SealedFile[] = [];
    for (const group of await groupsOf(connection, segment))
      files.push(...(await writeGroup(connection, segment, group, options, written)));
    await syncDirectory(options.parquetDir);
    return files;
  } catch (caught) {
    // A disk that is full must not be filled further by attempt after attempt.
    for (const path of written) await rm(path, { force: true });
    throw caught;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function groupsOf(connection: DuckDBConnection, segment: Segment): Promise<Group[]> {
  const counts = await connection.runAndReadAll(
    `SELECT series, capture_day, count(*), CAST(sum(octet_length(data)) AS BIGINT) FROM ${segment.table} GROUP BY ALL`,
  );
  const groups = new Map<string, Group>();
  for (const [series, day, rows, bytes] of counts.getRows() as [number, number, bigint, bigint][]) {
    const { organization_id: organizationId } = (segment.series[series] as Series).path;
    const key = JSON.stringify([organizationId, day]);
    const group = groups.get(key) ?? { day, numbers: [], rows: 0, dataBytes: 0 };
    groups.set(key, group);
    group.numbers.push(series);
    group.rows += Number(rows);
    group.dataBytes += Number(bytes);
  }
  const sortKey = (number: number): string => {
    const { path } = segment.series[number] as Series;
    return [path.part_id, path.component_type, path.component_name, path.method_name].join('\0');
  };
  for (const { numbers } of groups.values())
    numbers.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : a - b));
  return [...groups.values()];
}

async function writeGroup(
  connection: DuckDBConnection,
  segment: Segment,
  group: Group,
  options: SealOptions,
  written: string[],
): Promise<SealedFile[]> {
  const series = group.numbers.map((number) => segment.series[number] as Series);
  const sorted = `${segment.table}_sorted`;
  const pieces = Math.max(1, Math.ceil(group.dataBytes / options.fileBytes));
  const pieceRows = Math.ceil(group.rows / pieces);
  const files: SealedFile[] = [];
  try {
    await sortRows(connection, segment, group.day, group.numbers, sorted);
    for (let from = 0; from < group.rows; from += pieceRows) {
      const range = { from, to: Math.min(group.rows, from + pieceRows) };
      const file = `${dayText(group.day)}-${newId()}.parquet`;
      const temporary = join(options.parquetDir, `${file}.tmp`);
      written.push(temporary, join(options.parquetDir, file));
      const facts = await writePiece(connection, options.database, temporary, sorted, range, group.day, series);
      const { bytes: fileBytes, ...checksum } = await checksumFile(temporary);
      await rename(temporary, join(options.parquetDir, file));
      files.push({ ...facts, file, fileBytes, checksum });
    }
  } finally {
    await connection.run(`DROP TABLE IF EXISTS ${sorted}`);
  }
  return files;
}

async function writePiece(
  connection: DuckDBConnection,
  database: Database,
  path: string,
  sorted: string,
  range: RowRange,
  day: number,
  series: readonly Series[],
): Promise<Omit<SealedFile, 'file' | 'fileBytes' | 'checksum'>> {
  const shredded = `${sorted}_leaves`;
  try {
    const documents = { select: `SELECT data FROM ${rowsOf(sorted, range)}`, rows: range.to - range.from };
    const { leaves, columns } = await shredRows(connection, database, documents, shredded);
    const described = await describeSeries(connection, sorted, range, series);
    const contents = { sorted, range, day, ...described, shredded, leaves, columns };
    await writeParquet(connection, path, contents);
    await syncFile(path);
    return await readSealedFile(connection, path, contents);
  } finally {
    await connection.run(`DROP TABLE IF EXISTS ${shredded}`);
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
