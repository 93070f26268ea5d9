/** Where rows lie: a hot segment or a sealed file, with the SQL that reads the rows a query may need. All SQL text is made here. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { olderParquetFormat, parquetFormat } from '../parquet-format.ts';
import { isInScope, mayKeepSeries } from '../row-filter.ts';
import type { Series } from '../series.ts';
import { dayNumber } from './capture-day.ts';
import { deletedRows } from './deleted-rows.ts';
import type { FileRef, ScanRequest } from './messages.ts';
import { ofSeries } from './of-series.ts';
import { readOlderSeries } from './older-file.ts';
import { readSeries } from './parquet-file.ts';
import { noTime } from './row-buffer.ts';
import type { Segment } from './segment.ts';

export interface Source {
  readonly series: readonly Series[];
  /** SQL of the rows; `from` with its own bound values. */
  readonly from: string;
  readonly binds: readonly (string | bigint)[];
  /** SQL of a time column, noTime where it is missing. */
  readonly time: (column: string) => string;
  /** SQL of the capture day as days since 1970. */
  readonly day: string;
  /** "YYYY-MM-DD" when all its rows are of one; absent: of several. */
  readonly captureDay?: string;
}

export function segmentSource(segment: Segment): Source {
  return { series: segment.series, from: segment.table, binds: [], time: (column) => column, day: 'capture_day' };
}

/** @param known series of files that were read before, by name: files never change. */
export async function fileSource(
  connection: DuckDBConnection,
  parquetDir: string,
  { file, format, captureDay }: FileRef,
  known: Map<string, readonly Series[]>,
): Promise<Source> {
  if (format !== parquetFormat && format !== olderParquetFormat)
    throw new Error(
      `${file}: expected format ${olderParquetFormat} or ${parquetFormat}, found ${format}; it was written by another version`,
    );
  const path = join(parquetDir, file);
  let series = known.get(file);
  if (series === undefined) {
    if (!existsSync(path)) throw new StaleSnapshot(`${file} is not there: merged meanwhile, or lost`);
    series = await (format === parquetFormat ? readSeries : readOlderSeries)(connection, path);
    if (known.size >= maxKnownFiles) known.clear();
    known.set(file, series);
  }
  return {
    series,
    from: 'read_parquet($1)',
    binds: [path],
    time: (column) => `coalesce(${column}, ${noTime})`,
    day: String(dayNumber(captureDay)),
    captureDay,
  };
}

/** A file of the snapshot was merged into another and removed while this process was starting: a newer snapshot has the other one. */
export class StaleSnapshot extends Error {}

const maxKnownFiles = 1_000;

export interface Select {
  readonly sql: string;
  readonly binds: (string | bigint)[];
  /** By series number: whether its rows may be answered. */
  readonly allowed: Uint8Array;
}

/**
 * The rows of a source that a query may need; undefined when there are none.
 * @param newest of each series and capture day only those with the latest time_received, to the millisecond.
 */
export function selectRows(source: Source, request: ScanRequest, newest = false): Select | undefined {
  const found = conditionsOf(source, request);
  if (found === undefined) return undefined;
  const { binds, allowed } = found;
  const times = ['time_requested', 'time_received', 'time_synced'].map((column) =>
    request.exactTimes === true ? source.time(column) : millisecondsSql(source.time(column)),
  );
  const missing = ['time_requested', 'time_received', 'time_synced'].map(
    (column, i) => `CASE WHEN ${source.time(column)} = ${noTime} THEN ${1 << i} ELSE 0 END`,
  );
  const received = millisecondsSql(source.time('time_received'));
  const latest = `(series, ${source.day}, ${received}) IN (SELECT (series, ${source.day}, max(${received})) FROM ${source.from} WHERE ${found.where} GROUP BY series, ${source.day})`;
  const sql = `SELECT series, CAST(${source.day} AS INTEGER), ${times.join(', ')}, CAST(${missing.join(' + ')} AS UTINYINT), data
    FROM ${source.from} WHERE ${found.where}${newest ? ` AND ${latest} ORDER BY position, "index"` : ''}`;
  return { sql, binds, allowed };
}

/** Rows and bytes of `data` that a query asks for, by series; undefined when there are none. */
export function measureRows(source: Source, request: ScanRequest): Select | undefined {
  const found = conditionsOf(source, request);
  if (found === undefined) return undefined;
  const sql = `SELECT series, count(*), CAST(sum(octet_length(data)) AS BIGINT) FROM ${source.from} WHERE ${found.where} GROUP BY series`;
  return { ...found, sql };
}

interface Conditions {
  readonly where: string;
  readonly binds: (string | bigint)[];
  readonly allowed: Uint8Array;
}

function conditionsOf(source: Source, request: ScanRequest): Conditions | undefined {
  const { scope, filter, after, upTo, deletes } = request;
  const allowed = new Uint8Array(source.series.length);
  const wanted: number[] = [];
  for (const [number, { path }] of source.series.entries()) {
    if (!isInScope(path, scope)) continue;
    allowed[number] = 1;
    if (mayKeepSeries(path, filter)) wanted.push(number);
  }
  if (wanted.length === 0) return undefined;

  const binds = [...source.binds];
  const bind = (value: bigint): string => `$${binds.push(value)}`;
  const where: string[] = [];
  if (source.binds.length === 0) where.push(`position > ${bind(BigInt(after))} AND position <= ${bind(BigInt(upTo))}`);
  if (wanted.length < source.series.length) where.push(ofSeries(wanted));
  for (const column of ['time_requested', 'time_received', 'time_synced'] as const) {
    const bounds = filter.times[column];
    if (bounds?.from !== undefined) where.push(`${column} >= ${bind(bounds.from)}`);
    // Without a lower bound a missing time stays in: some comparisons count it as less than any.
    if (bounds?.to !== undefined) {
      const below = `${column} <= ${bind(bounds.to)}`;
      where.push(bounds.from === undefined ? `(${below} OR ${column} IS NULL)` : below);
    }
  }
  for (const deletion of deletes) {
    const covered = deletedRows(deletion, source, bind);
    if (covered !== undefined) where.push(`NOT (${covered})`);
  }
  return { where: where.length === 0 ? 'TRUE' : where.join(' AND '), binds, allowed };
}

/** Milliseconds of a column of microseconds, rounded down, before 1970 too; the smallest int64 stays in range, NULL stays NULL. */
export function millisecondsSql(column: string): string {
  return `(${column} // 1000 - CASE WHEN ${column} % 1000 < 0 THEN 1 ELSE 0 END)`;
}
