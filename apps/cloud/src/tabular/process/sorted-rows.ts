/** The rows that go into files of one organization and day, copied out of a segment in the order of the files. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Series } from '../series.ts';
import type { NewestRow, SeriesFacts, TimeFacts } from './file-facts.ts';
import { noTime } from './row-buffer.ts';
import type { Segment } from './segment.ts';

/** Rows of one file, by their place in the sorted table. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Creates `table`: columns of the segment's but `series`, which numbers `numbers`, and no capture day.
 * @param numbers the segment's numbers of the series, in the order of the files.
 */
export async function sortRows(
  connection: DuckDBConnection,
  segment: Segment,
  day: number,
  numbers: readonly number[],
  table: string,
): Promise<void> {
  const renumbered = numbers.map((hot, number) => `(${hot}, ${number})`).join(', ');
  await connection.run(
    `CREATE OR REPLACE TABLE ${table} AS
      SELECT n.number AS series, r.position, r."index", r.time_requested, r.time_received, r.time_synced, r.data
      FROM ${segment.table} r JOIN (VALUES ${renumbered}) n(hot, number) ON r.series = n.hot
      WHERE r.capture_day = ${day}
      ORDER BY n.number, r.time_received, r.position, r."index"`,
  );
}

/** SQL of a range's rows. */
export function rowsOf(table: string, { from, to }: RowRange): string {
  return `${table} WHERE rowid >= ${from} AND rowid < ${to}`;
}

const times = ['time_received', 'time_requested', 'time_synced'] as const;
const newestLimits = { rowBytes: 4 << 10, fileBytes: 4 << 20 } as const;

/** What the series of a range are like, in their order; `base` is the sorted table's number of the first. */
export async function describeSeries(
  connection: DuckDBConnection,
  table: string,
  range: RowRange,
  series: readonly Series[],
): Promise<{ base: number; series: SeriesFacts[] }> {
  const ofTimes = times.map(
    (time) => `min(nullif(${time}, ${noTime})), max(nullif(${time}, ${noTime})), count(*) FILTER (${time} = ${noTime})`,
  );
  const read = await connection.runAndReadAll(
    `SELECT series, count(*), CAST(sum(octet_length(data)) AS BIGINT), min(rowid), ${ofTimes.join(', ')}
      FROM ${rowsOf(table, range)} GROUP BY series ORDER BY series`,
  );
  type Time = bigint | null;
  type Row = [number, bigint, bigint, bigint, Time, Time, bigint, Time, Time, bigint, Time, Time, bigint];
  const rows = read.getRows() as Row[];
  const newest = await newestRows(
    connection,
    table,
    range,
    rows.flatMap(([number, , , , , max]) => (max === null ? [] : [[number, startOfMs(max)] as const])),
  );
  const facts = (min: Time, max: Time, missing: bigint): TimeFacts => ({ min, max, missing: Number(missing) });
  return {
    base: rows[0]?.[0] ?? 0,
    series: rows.map((row) => {
      const newestRow = newest.get(row[0]);
      return {
        ...(series[row[0]] as Series),
        rows: Number(row[1]),
        dataBytes: Number(row[2]),
        firstRow: Number(row[3]) - range.from,
        received: facts(row[4], row[5], row[6]),
        requested: facts(row[7], row[8], row[9]),
        synced: facts(row[10], row[11], row[12]),
        ...(newestRow && { newest: newestRow }),
      };
    }),
  };
}

/** By series: the first row of its latest millisecond, because that is all of a time that a query sees. */
async function newestRows(
  connection: DuckDBConnection,
  table: string,
  range: RowRange,
  latest: readonly (readonly [number, bigint])[],
): Promise<Map<number, NewestRow>> {
  const newest = new Map<number, NewestRow>();
  if (latest.length === 0) return newest;
  const values = latest.map(([number, time]) => `(${number}, ${time})`).join(', ');
  const read = await connection.runAndReadAll(
    `SELECT series, position, "index", time_requested, time_received, time_synced, data
      FROM ${rowsOf(table, range)} AND octet_length(data) <= ${newestLimits.rowBytes} AND rowid IN (
        SELECT min(r.rowid) FROM (SELECT rowid, series, time_received FROM ${rowsOf(table, range)}) r
          JOIN (VALUES ${values}) v(series, latest) ON r.series = v.series AND r.time_received >= v.latest
          GROUP BY r.series)`,
  );
  type Row = [number, bigint, number, bigint, bigint, bigint, { readonly bytes: Uint8Array }];
  let bytes = 0;
  for (const row of read.getRows() as Row[]) {
    bytes += row[6].bytes.length;
    if (bytes > newestLimits.fileBytes) break;
    newest.set(row[0], {
      position: Number(row[1]),
      index: row[2],
      timeRequested: row[3],
      timeReceived: row[4],
      timeSynced: row[5],
      data: row[6].bytes,
    });
  }
  return newest;
}

/** Floor to the millisecond, before 1970 too. */
function startOfMs(microseconds: bigint): bigint {
  const rest = microseconds % 1_000n;
  return microseconds - (rest < 0n ? rest + 1_000n : rest);
}
