/** Splits rows into several files of limited size. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { largeRows } from '../../query/large-rows.ts';
import { readRows } from '../duckdb/database.ts';
import { dataBytesOf, type Slice } from '../files/slice.ts';
import { noTime } from '../rows/row-buffer.ts';
import type { MergeSource } from './merge-source.ts';

/** A condition on the rows of each file, in order; undefined means all rows. */
export async function splitConditions(
  connection: DuckDBConnection,
  source: MergeSource,
  slices: readonly Slice[],
  fileBytes: number,
  kept: string | undefined,
): Promise<(string | undefined)[]> {
  const bytes = dataBytesOf(slices);
  const isLarge = bytes > largeRows.rowBytes * source.rows;
  const limit = isLarge ? Math.min(fileBytes, largeRows.fileBytes) : fileBytes;
  const pieces = isLarge ? Math.ceil(bytes / limit) : Math.round(bytes / limit);
  if (pieces < 2) return [kept];
  const pieceBytes = Math.ceil(bytes / pieces);
  // The last row of each piece, in the order of files.
  const ends = (await readRows(
    connection,
    `SELECT arg_max(number, run), arg_max(time_received, run), arg_max(position, run), arg_max("index", run) FROM (
        SELECT *, CAST(sum(size) OVER (ORDER BY number, time_received, position, "index" ROWS UNBOUNDED PRECEDING) AS BIGINT) AS run
        FROM (${source.select(['time_received', 'position', '"index"', 'size'], kept)}))
      GROUP BY (run - size) // ${pieceBytes} ORDER BY max(run)`,
  )) as [number, bigint, bigint, number][];
  return ends.map((end, at) => {
    const above = ends[at - 1];
    const terms = [
      ...(kept === undefined ? [] : [`(${kept})`]),
      ...(above === undefined ? [] : [`NOT (${isUpTo(above)})`]),
      ...(at === ends.length - 1 ? [] : [`(${isUpTo(end)})`]),
    ];
    return terms.join(' AND ');
  });
}

/** SQL: whether a row is at or before an end, in the order of files. */
function isUpTo([number, received, position, index]: readonly [number, bigint, bigint, number]): string {
  const time = `coalesce(time_received, ${noTime})`;
  const inUpload = `position < ${position} OR (position = ${position} AND "index" <= ${index})`;
  return `number < ${number} OR (number = ${number} AND (${time} < ${received} OR (${time} = ${received} AND (${inUpload}))))`;
}
