/** Computes the facts of series from the rows themselves before they are written. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { readRows } from '../duckdb/database.ts';
import type { NewestRow, SeriesFacts, TimeFacts } from '../files/file-facts.ts';
import { newestLimits, startOfMs } from '../hot/series-facts.ts';
import { noTime } from '../rows/row-buffer.ts';
import type { MergeSource } from './merge-source.ts';

export interface DescribedRows {
  /** Numbers in the source of the series that have rows. */
  readonly numbers: readonly number[];
  readonly series: readonly SeriesFacts[];
  readonly rows: number;
  /** By column of a leaf: number of rows with a value. */
  readonly values: ReadonlyMap<string, number>;
}

const times = ['time_received', 'time_requested', 'time_synced'] as const;

/** @param kept condition on the rows; default: all rows of the source */
export async function describeRows(
  connection: DuckDBConnection,
  source: MergeSource,
  kept: string | undefined,
): Promise<DescribedRows> {
  const ofTimes = times.map(
    (time) => `min(nullif(${time}, ${noTime})), max(nullif(${time}, ${noTime})), count(*) FILTER (${time} = ${noTime})`,
  );
  const counts = source.columns.map((column) => `, count(${column})`).join('');
  type Time = bigint | null;
  type Row = [number, bigint, bigint, Time, Time, bigint, Time, Time, bigint, Time, Time, bigint, ...bigint[]];
  const found = (await readRows(
    connection,
    `SELECT number, count(*), CAST(sum(size) AS BIGINT), ${ofTimes.join(', ')}${counts}
      FROM (${source.select([...times, 'size', ...source.columns], kept)}) GROUP BY number ORDER BY number`,
  )) as Row[];
  const ofSlices = kept === undefined ? source.newest() : undefined;
  const newest = withinBytes(
    ofSlices ??
      (await newestRows(
        connection,
        source,
        kept,
        found.flatMap(([number, , , , max]) => (max === null ? [] : [[number, max] as const])),
      )),
  );
  const timeFacts = (min: Time, max: Time, missing: bigint): TimeFacts => ({ min, max, missing: Number(missing) });
  let firstRow = 0;
  const series = found.map((row): SeriesFacts => {
    const newestRow = newest.get(row[0]);
    const facts: SeriesFacts = {
      ...(source.series[row[0]] as (typeof source.series)[number]),
      rows: Number(row[1]),
      dataBytes: Number(row[2]),
      firstRow,
      received: timeFacts(row[3], row[4], row[5]),
      requested: timeFacts(row[6], row[7], row[8]),
      synced: timeFacts(row[9], row[10], row[11]),
      ...(newestRow && { newest: newestRow }),
    };
    firstRow += facts.rows;
    return facts;
  });
  const values = source.columns.map(
    (column, i) => [column, found.reduce((sum, row) => sum + Number(row[12 + i]), 0)] as const,
  );
  return { numbers: found.map(([number]) => number), series, rows: firstRow, values: new Map(values) };
}

/** By number: the first row of the latest millisecond, because queries see whole milliseconds. */
async function newestRows(
  connection: DuckDBConnection,
  source: MergeSource,
  kept: string | undefined,
  latest: readonly (readonly [number: number, received: bigint])[],
): Promise<Map<number, NewestRow>> {
  const newest = new Map<number, NewestRow>();
  if (latest.length === 0) return newest;
  const since = new Array<bigint | null>(source.series.length).fill(null);
  for (const [number, received] of latest) since[number] = startOfMs(received);
  const isLatest = `time_received >= list_extract([${since.map((time) => time ?? 'NULL').join(',')}]::BIGINT[], number + 1)`;
  const columns = ['position', '"index"', 'time_requested', 'time_received', 'time_synced', 'size', 'data'];
  const small = `CASE WHEN size <= ${newestLimits.rowBytes} THEN data END`;
  const first = (column: string): string => `arg_min(${column}, (time_received, position, "index"))`;
  type Row = [number, bigint, number, bigint, bigint, bigint, number, { readonly bytes: Uint8Array } | null];
  const rows = (await readRows(
    connection,
    `SELECT number, ${columns.slice(0, -1).map(first).join(', ')}, arg_min_null(${small}, (time_received, position, "index"))
      FROM (${source.select(columns, kept === undefined ? isLatest : `(${kept}) AND ${isLatest}`)}) GROUP BY number ORDER BY number`,
  )) as Row[];
  for (const [number, position, index, timeRequested, timeReceived, timeSynced, , data] of rows) {
    if (data === null) continue;
    newest.set(number, {
      position: Number(position),
      index,
      timeRequested,
      timeReceived,
      timeSynced,
      data: data.bytes,
    });
  }
  return newest;
}

/** As many newest rows as a file's facts may hold. @param newest by number */
function withinBytes(newest: ReadonlyMap<number, NewestRow>): ReadonlyMap<number, NewestRow> {
  let bytes = 0;
  const kept = [...newest].sort(([a], [b]) => a - b);
  const beyond = kept.findIndex(([, { data }]) => {
    bytes += data.length;
    return bytes > newestLimits.fileBytes;
  });
  return new Map(beyond < 0 ? kept : kept.slice(0, beyond));
}
