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

/** Values of series, rows of leaves: nothing of a user's is part of the statement's text. */
export async function writeParquet(connection: DuckDBConnection, path: string, contents: FileContents): Promise<void> {
  const { BLOB, LIST, VARCHAR, blobValue, listValue } = await import('@duckdb/node-api');
  const { sorted, range, day, base, series, shredded, leaves, columns } = contents;
  const rows = range.to - range.from;
  const facts = encodeFacts({ rows, series, leaves: leaves.map((leaf) => leaf.facts) });
  // Looked up instead of joined, because a join does not keep the order of rows.
  const ofSeries = (bound: number): string => `list_extract($${bound}, s.series - ${base} + 1)`;
  const paths = seriesColumns.map((column, i) => `${ofSeries(i + 1)} AS ${column}`);
  const [tags, parameters, metadata] = [1, 2, 3].map((i) => seriesColumns.length + i) as [number, number, number];
  const times = ['time_requested', 'time_received', 'time_synced'].map(
    (time) => `nullif(s.${time}, ${noTime}) AS ${time}`,
  );
  await connection.run(
    `COPY (
      SELECT ${paths.join(', ')}, DATE '1970-01-01' + ${day} AS capture_day, ${times.join(', ')}, ${ofSeries(tags)} AS tags,
        ${ofSeries(parameters)} AS additional_parameters, s.position, s."index", s.series - ${base} AS series, l.*, s.data
      FROM (SELECT * FROM ${rowsOf(sorted, range)}) s POSITIONAL JOIN (SELECT size${columns.map((name) => `, ${name}`).join('')} FROM ${shredded}) l
    ) TO ${quoted(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows}, KV_METADATA {${quoted(metadataKey)}: $${metadata}})`,
    [
      ...seriesColumns.map((column) => listValue(series.map((each) => each.path[column]))),
      listValue(series.map((each) => listValue([...each.tags]))),
      listValue(series.map((each) => blobValue(each.additionalParameters))),
      blobValue(facts),
    ],
    [...seriesColumns.map(() => LIST(VARCHAR)), LIST(LIST(VARCHAR)), LIST(BLOB), BLOB],
  );
}

/** The series of a file by their numbers. */
export async function readSeries(connection: DuckDBConnection, path: string): Promise<readonly Series[]> {
  return (await readFacts(connection, [path])).get(path)?.series ?? [];
}
