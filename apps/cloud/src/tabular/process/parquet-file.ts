/**
 * The layout of a sealed file, format 2 (docs/specs/tabular-store.md). Immutable; one organization and one capture day; sorted by part,
 * type, component, method and time. The columns of path, times and tags are plain, so that any Parquet reader understands a file
 * without us; `data` is the reading's document, whole; the columns of leaves repeat some of its values, typed.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { seriesColumns } from '@platform/query';
import type { Series } from '../series.ts';
import { quoted } from './database.ts';
import { encodeFacts, metadataKey } from './facts-in-footer.ts';
import { readFacts, type SeriesFacts } from './file-facts.ts';
import { noTime } from './row-buffer.ts';
import type { DescribedLeaf } from './shred/describe-leaves.ts';
import { type RowRange, rowsOf } from './sorted-rows.ts';

export const parquetFormat = 2;

const rowGroupRows = 61_440;

export interface FileContents {
  /** Table of sorted rows, and which of them. */
  readonly sorted: string;
  readonly range: RowRange;
  /** Days since 1970. */
  readonly day: number;
  /** Number of the first series in the sorted table. */
  readonly base: number;
  readonly series: readonly SeriesFacts[];
  /** Table of the leaves' columns: as many rows as the range, in the same order. */
  readonly shredded: string;
  readonly leaves: readonly DescribedLeaf[];
  readonly columns: readonly string[];
}

/** What users named reaches DuckDB as bound values only; columns of leaves have names of ours. */
export async function writeParquet(connection: DuckDBConnection, path: string, contents: FileContents): Promise<void> {
  const { BLOB, LIST, STRUCT, VARCHAR, blobValue, listValue, structValue } = await import('@duckdb/node-api');
  const { sorted, range, day, base, series, shredded, leaves, columns } = contents;
  const facts = encodeFacts({ rows: range.to - range.from, series, leaves: leaves.map((leaf) => leaf.facts) });
  const times = ['time_requested', 'time_received', 'time_synced'].map(
    (time) => `nullif(s.${time}, ${noTime}) AS ${time}`,
  );
  // The series is looked up instead of joined, because a join does not keep the order of rows.
  await connection.run(
    `COPY (
      SELECT ${seriesColumns.map((column) => `of_series.${column}`).join(', ')}, capture_day, time_requested, time_received, time_synced,
        of_series.tags, of_series.additional_parameters, position, "index", series, size${columns.map((name) => `, ${name}`).join('')}, data
      FROM (
        SELECT list_extract($1, s.series - ${base} + 1) AS of_series, DATE '1970-01-01' + ${day} AS capture_day, ${times.join(', ')},
          s.position, s."index", s.series - ${base} AS series, l.*, s.data
        FROM (SELECT * FROM ${rowsOf(sorted, range)}) s POSITIONAL JOIN ${shredded} l)
    ) TO ${quoted(path)} (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows},
      KV_METADATA {${quoted(metadataKey)}: $2})`,
    [
      listValue(
        series.map((each) =>
          structValue({
            ...each.path,
            tags: listValue([...each.tags]),
            additional_parameters: blobValue(each.additionalParameters),
          }),
        ),
      ),
      blobValue(facts),
    ],
    [
      LIST(
        STRUCT({
          ...Object.fromEntries(seriesColumns.map((column) => [column, VARCHAR])),
          tags: LIST(VARCHAR),
          additional_parameters: BLOB,
        }),
      ),
      BLOB,
    ],
  );
}

/** The series of a file by their numbers. */
export async function readSeries(connection: DuckDBConnection, path: string): Promise<readonly Series[]> {
  return (await readFacts(connection, [path])).get(path)?.series ?? [];
}
