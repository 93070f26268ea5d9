/** Reads the catalog entry of a file back from the file itself. A file that is unreadable or differs from its footer is never listed. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { parquetFormat } from '../../catalog/parquet-format.ts';
import { catalogTime } from '../../catalog/row-filter.ts';
import { pathSetsOf } from '../../catalog/series.ts';
import { readRows } from '../duckdb/database.ts';
import type { SealedFile } from '../messages.ts';
import { documentOverheadBytes } from '../rows/row-documents.ts';
import { readFacts, type SeriesFacts, type TimeFacts } from './file-facts.ts';
import type { FileContents } from './parquet-file.ts';

/** Number of columns in the statement below before those of leaves. */
const fixedColumns = 14;

export async function readSealedFile(
  connection: DuckDBConnection,
  path: string,
  { captureDay, values: expectedValues }: Pick<FileContents, 'captureDay' | 'values'>,
): Promise<Omit<SealedFile, 'file' | 'fileBytes' | 'checksum'>> {
  const facts = (await readFacts(connection, [path])).get(path);
  const ofTimes = ['time_received', 'time_requested'].map((time) => `min(${time}), max(${time}), count(${time})`);
  const counts = [...expectedValues].map(([column, values]) => ({ column, values }));
  const read = await readRows(
    connection,
    `SELECT series, count(*), CAST(sum(octet_length(data)) AS BIGINT), min(file_row_number), max(file_row_number),
        count(*) FILTER (size IS DISTINCT FROM octet_length(data)), min(position), max(position), ${[...ofTimes, ...counts.map(({ column }) => `count(${column})`)].join(', ')}
      FROM read_parquet($1, file_row_number = true) GROUP BY series ORDER BY series`,
    [path],
  );
  type Row = [number, ...(bigint | null)[]];
  const rows = read as Row[];
  const { series = [] } = facts ?? {};
  const same = rows.every((row, i) => {
    const { rows: count, dataBytes, firstRow, received, requested } = series[i] as SeriesFacts;
    const found = [row[0], ...row.slice(1, 5).map(Number), row[5], ...row.slice(8, fixedColumns)];
    const expected = [
      i,
      count,
      dataBytes,
      firstRow,
      firstRow + count - 1,
      0n,
      ...ofTime(received, count),
      ...ofTime(requested, count),
    ];
    return found.every((value, at) => value === expected[at]);
  });
  if (facts === undefined || rows.length !== series.length || !same)
    throw new Error(`${path}: expected the rows that its footer describes, found different ones; it is not listed`);
  for (const [i, { column, values }] of counts.entries()) {
    const found = rows.reduce((sum, row) => sum + Number(row[fixedColumns + i]), 0);
    if (found !== values)
      throw new Error(`${path}: expected ${values} values in column ${column}, found ${found}; it is not listed`);
  }
  const received = rangeOf(series.map((each) => each.received));
  const requested = rangeOf(series.map((each) => each.requested));
  return {
    format: parquetFormat,
    captureDay,
    organizationId: (series[0] as SeriesFacts).path.organization_id,
    rows: facts.rows,
    logicalBytes: series.reduce((sum, each) => sum + each.dataBytes + each.rows * documentOverheadBytes(each), 0),
    minPosition: Math.min(...rows.map((row) => Number(row[6]))),
    maxPosition: Math.max(...rows.map((row) => Number(row[7]))),
    minTimeReceived: received.min,
    maxTimeReceived: received.max,
    minTimeRequested: requested.min,
    maxTimeRequested: requested.max,
    pathSets: pathSetsOf(series),
  };
}

/** The min, max and count of a time that the file is expected to have. */
function ofTime({ min, max, missing }: TimeFacts, rows: number): (bigint | null)[] {
  return [min, max, BigInt(rows - missing)];
}

/** As numbers, clamped; min is null when at least one row lacks the time, max when every row does. */
function rangeOf(times: readonly TimeFacts[]): { min: number | null; max: number | null } {
  const least = times.flatMap(({ min }) => (min === null ? [] : [Number(min)]));
  const greatest = times.flatMap(({ max }) => (max === null ? [] : [Number(max)]));
  const isMissing = times.some(({ missing }) => missing > 0);
  const min = least.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const max = greatest.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return {
    min: isMissing || least.length === 0 ? null : Math.max(catalogTime.min, min),
    max: greatest.length === 0 ? null : Math.min(catalogTime.max, max),
  };
}
