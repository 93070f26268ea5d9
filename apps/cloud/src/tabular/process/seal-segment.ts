/**
 * Writes a frozen segment to Parquet files, one or more for each organization and capture day (I9).
 *
 * Each file is written under a temporary name, synced, renamed; then the directory is synced. Only after all of that does the caller
 * report the files; until the catalog lists them they do not exist, and a start removes them.
 */
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { newId } from '@platform/base';
import { seriesColumns } from '@platform/query';
import { catalogTime } from '../row-filter.ts';
import { pathSetsOf, type Series } from '../series.ts';
import { dayText } from './capture-day.ts';
import { quoted } from './database.ts';
import type { SealedFile } from './messages.ts';
import { parquetFormat, seriesMetadata } from './parquet-file.ts';
import { noTime } from './row-buffer.ts';
import { documentOverheadBytes } from './row-documents.ts';
import type { Segment } from './segment.ts';

interface Group {
  readonly organizationId: string;
  readonly day: number;
  /** Segment numbers of its series, in the order in which the file sorts them. */
  readonly numbers: number[];
  rows: number;
  dataBytes: number;
}

export interface SealOptions {
  readonly parquetDir: string;
  /** BSON bytes that go into one file. */
  readonly fileBytes: number;
}

const rowGroupRows = 61_440;

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
    const group = groups.get(key) ?? { organizationId, day, numbers: [], rows: 0, dataBytes: 0 };
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
  const seriesTable = `${segment.table}_series`;
  await writeSeriesTable(connection, seriesTable, group.numbers, series);
  const pieces = Math.max(1, Math.ceil(group.dataBytes / options.fileBytes));
  const pieceRows = Math.ceil(group.rows / pieces);
  const files: SealedFile[] = [];
  try {
    for (let from = 0; from < group.rows; from += pieceRows) {
      const file = `${dayText(group.day)}-${newId()}.parquet`;
      const temporary = join(options.parquetDir, `${file}.tmp`);
      written.push(temporary, join(options.parquetDir, file));
      await connection.run(
        `COPY (
          SELECT ${seriesColumns.map((column) => `s.${column}`).join(', ')}, DATE '1970-01-01' + r.capture_day AS capture_day,
            nullif(r.time_requested, ${noTime}) AS time_requested, nullif(r.time_received, ${noTime}) AS time_received,
            nullif(r.time_synced, ${noTime}) AS time_synced, s.tags, s.additional_parameters, r.position, r."index", s.number AS series, r.data
          FROM ${segment.table} r JOIN ${seriesTable} s ON r.series = s.hot_number
          WHERE r.capture_day = ${group.day}
          ORDER BY s.number, r.time_received, r.position, r."index"
          LIMIT ${pieceRows} OFFSET ${from}
        ) TO ${quoted(temporary)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows}, KV_METADATA ${seriesMetadata(series)})`,
      );
      await syncFile(temporary);
      const facts = await factsOf(connection, temporary, series, group);
      await rename(temporary, join(options.parquetDir, file));
      files.push({ ...facts, file });
    }
  } finally {
    await connection.run(`DROP TABLE IF EXISTS ${seriesTable}`);
  }
  return files;
}

async function writeSeriesTable(
  connection: DuckDBConnection,
  table: string,
  numbers: readonly number[],
  series: readonly Series[],
): Promise<void> {
  const { LIST, VARCHAR } = await import('@duckdb/node-api');
  const text = seriesColumns.map((column) => `${column} VARCHAR NOT NULL`).join(', ');
  await connection.run(
    `CREATE OR REPLACE TABLE ${table} (hot_number INTEGER, number INTEGER, ${text}, tags VARCHAR[], additional_parameters BLOB)`,
  );
  const appender = await connection.createAppender(table);
  for (const [number, { path, tags, additionalParameters }] of series.entries()) {
    appender.appendInteger(numbers[number] as number);
    appender.appendInteger(number);
    for (const column of seriesColumns) appender.appendVarchar(path[column]);
    appender.appendList(tags, LIST(VARCHAR));
    appender.appendBlob(additionalParameters);
    appender.endRow();
  }
  appender.closeSync();
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Read back from the file itself: what cannot be read is never listed. */
async function factsOf(
  connection: DuckDBConnection,
  path: string,
  series: readonly Series[],
  { organizationId, day }: Group,
): Promise<Omit<SealedFile, 'file'>> {
  const times = ['time_received', 'time_requested']
    .map((time) => `min(${time}), max(${time}), count(${time})`)
    .join(', ');
  const read = await connection.runAndReadAll(
    `SELECT series, count(*), CAST(sum(octet_length(data)) AS BIGINT), min(position), max(position), ${times} FROM read_parquet($1) GROUP BY series`,
    [path],
  );
  const rows = read.getRows() as [
    number,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint | null,
    bigint | null,
    bigint,
    bigint | null,
    bigint | null,
    bigint,
  ][];
  const present = rows.map(([number]) => series[number] as Series);
  const total = rows.reduce((sum, [, count]) => sum + Number(count), 0);
  const known = (counts: number[]): boolean => counts.reduce((sum, count) => sum + count, 0) === total;
  const received = {
    all: known(rows.map((row) => Number(row[7]))),
    min: least(rows.map((row) => row[5])),
    max: greatest(rows.map((row) => row[6])),
  };
  const requested = {
    all: known(rows.map((row) => Number(row[10]))),
    min: least(rows.map((row) => row[8])),
    max: greatest(rows.map((row) => row[9])),
  };
  return {
    format: parquetFormat,
    captureDay: dayText(day),
    organizationId,
    rows: total,
    logicalBytes: rows.reduce(
      (sum, [number, count, bytes]) =>
        sum + Number(bytes) + Number(count) * documentOverheadBytes(series[number] as Series),
      0,
    ),
    fileBytes: (await stat(path)).size,
    minPosition: Math.min(...rows.map((row) => Number(row[3]))),
    maxPosition: Math.max(...rows.map((row) => Number(row[4]))),
    minTimeReceived: received.all ? received.min : null,
    maxTimeReceived: received.max,
    minTimeRequested: requested.all ? requested.min : null,
    maxTimeRequested: requested.max,
    pathSets: pathSetsOf(present),
  };
}

function least(values: readonly (bigint | null)[]): number | null {
  const known = values.filter((value) => value !== null).map(Number);
  return known.length === 0
    ? null
    : Math.max(
        catalogTime.min,
        known.reduce((a, b) => Math.min(a, b)),
      );
}

function greatest(values: readonly (bigint | null)[]): number | null {
  const known = values.filter((value) => value !== null).map(Number);
  return known.length === 0
    ? null
    : Math.min(
        catalogTime.max,
        known.reduce((a, b) => Math.max(a, b)),
      );
}
