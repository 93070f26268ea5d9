/**
 * The layout of a sealed file, format 2 (docs/specs/tabular-store.md). Immutable; one organization and one capture day; sorted by part,
 * type, component, method and time. The columns of path, times and tags are plain, so that any Parquet reader understands a file
 * without us; `data` is the reading's document, whole; the columns of leaves repeat some of its values, typed.
 */
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { type SeriesColumn, seriesColumns } from '@platform/query';
import type { Series } from '../series.ts';
import { quoted } from './database.ts';
import { encodeFacts, metadataKey } from './facts-in-footer.ts';
import { readFacts, type SeriesFacts } from './file-facts.ts';
import { noTime } from './row-buffer.ts';
import type { DescribedLeaf } from './shred/describe-leaves.ts';
import { type RowRange, rowsOf } from './sorted-rows.ts';

export { parquetFormat } from '../parquet-format.ts';

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
  const { BLOB, LIST, VARCHAR, blobValue, listValue } = await import('@duckdb/node-api');
  const { sorted, range, day, base, series, shredded, leaves, columns } = contents;
  const values: DuckDBValue[] = [];
  const types: DuckDBType[] = [];
  const bind = (value: DuckDBValue, type: DuckDBType): string => {
    types.push(type);
    return `$${values.push(value)}`;
  };
  // The series is looked up instead of joined, because a join does not keep the order of rows; most values are the same for all.
  const ofSeries = (type: DuckDBType, inOne: (each: Series) => DuckDBValue, keyOf: (each: Series) => string): string =>
    new Set(series.map(keyOf)).size === 1
      ? bind(inOne(series[0] as Series), type)
      : `list_extract(${bind(listValue(series.map(inOne)), LIST(type))}, s.series - ${base} + 1)`;
  const textOf = (column: SeriesColumn): string => {
    const inOne = ({ path: columns }: Series): string => columns[column];
    return `${ofSeries(VARCHAR, inOne, inOne)} AS ${column}`;
  };
  // Text, because DuckDB 1.5 fails to write some lists that are the same in every row.
  const tagsText = ({ tags }: Series): string => JSON.stringify(tags);
  const tagsOf = ofSeries(VARCHAR, tagsText, tagsText);
  const parametersOf = ofSeries(
    BLOB,
    ({ additionalParameters }) => blobValue(additionalParameters),
    ({ additionalParameters }) => Buffer.from(additionalParameters).toString('latin1'),
  );
  const times = ['time_requested', 'time_received', 'time_synced'].map(
    (time) => `nullif(s.${time}, ${noTime}) AS ${time}`,
  );
  const facts = encodeFacts({ rows: range.to - range.from, series, leaves: leaves.map((leaf) => leaf.facts) });
  const statement = `COPY (
      SELECT ${seriesColumns.map(textOf).join(', ')}, DATE '1970-01-01' + ${day} AS capture_day, ${times.join(', ')},
        ${tagsOf} AS tags, ${parametersOf} AS additional_parameters, s.position, s."index", s.series - ${base} AS series,
        l.size${columns.map((name) => `, l.${name}`).join('')}, s.data
      FROM (SELECT * FROM ${rowsOf(sorted, range)}) s POSITIONAL JOIN ${shredded} l
    ) TO ${quoted(path)} (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows},
      KV_METADATA {${quoted(metadataKey)}: ${bind(blobValue(facts), BLOB)}})`;
  await connection.run(statement, values, types);
}

/** The series of a file by their numbers. */
export async function readSeries(connection: DuckDBConnection, path: string): Promise<readonly Series[]> {
  return (await readFacts(connection, [path])).get(path)?.series ?? [];
}
