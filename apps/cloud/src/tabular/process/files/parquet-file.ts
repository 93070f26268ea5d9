/**
 * The layout of a sealed file, format 2 (docs/specs/tabular-store.md). A file is immutable, contains one organization and one capture day,
 * and is sorted by part, type, component, method and time. The columns of path, times and tags are plain, so that any Parquet reader
 * understands a file without our code. `data` is the reading's whole document; the leaf columns repeat some of its values, typed.
 */
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { type SeriesColumn, seriesColumns, timeColumns } from '@platform/query';
import { dayNumber } from '../../../reading-codec/capture-day.ts';
import type { Series } from '../../catalog/series.ts';
import { quoted } from '../duckdb/database.ts';
import { noTime } from '../rows/row-buffer.ts';
import { encodeFacts, metadataKey } from './facts-in-footer.ts';
import type { LeafFacts, SeriesFacts } from './file-facts.ts';
import { rowsOfGroup } from './row-group.ts';

export interface FileContents {
  /** SELECT of all columns of the source with the row's `number`. */
  readonly rows: string;
  /** By the file's own series number: the number in `rows`. */
  readonly numbers: readonly number[];
  /** Capture day of all rows, "YYYY-MM-DD". */
  readonly captureDay: string;
  readonly series: readonly SeriesFacts[];
  readonly leaves: readonly LeafFacts[];
  /** Names of the leaves' columns. */
  readonly columns: readonly string[];
  /** By leaf column: number of rows that have a value. */
  readonly values: ReadonlyMap<string, number>;
  /** Maximum size of the documents in a row group. */
  readonly rowGroupBytes: number;
}

/** User-defined names reach DuckDB as bound values only; our code names the leaf columns. */
export async function writeParquet(connection: DuckDBConnection, path: string, contents: FileContents): Promise<void> {
  const { BLOB, LIST, VARCHAR, blobValue, listValue } = await import('@duckdb/node-api');
  const { rows, numbers, captureDay, series, leaves, columns, rowGroupBytes } = contents;
  const values: DuckDBValue[] = [];
  const types: DuckDBType[] = [];
  const bind = (value: DuckDBValue, type: DuckDBType): string => {
    types.push(type);
    return `$${values.push(value)}`;
  };
  // The series is looked up instead of joined, because a join does not preserve the order of rows. Most values are the same for all series.
  const ofSeries = (type: DuckDBType, inOne: (each: Series) => DuckDBValue, keyOf: (each: Series) => string): string =>
    new Set(series.map(keyOf)).size === 1
      ? bind(inOne(series[0] as Series), type)
      : `list_extract(${bind(listValue(series.map(inOne)), LIST(type))}, s.series + 1)`;
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
  const times = timeColumns.map((time) => `nullif(s.${time}, ${noTime}) AS ${time}`);
  const fileRows = series.reduce((sum, each) => sum + each.rows, 0);
  const dataBytes = series.reduce((sum, each) => sum + each.dataBytes, 0);
  const rowGroup = rowsOfGroup(dataBytes / fileRows, rowGroupBytes);
  const facts = encodeFacts({ rows: fileRows, series, leaves });
  const statement = `COPY (
      SELECT ${seriesColumns.map(textOf).join(', ')}, DATE '1970-01-01' + ${dayNumber(captureDay)} AS capture_day, ${times.join(', ')},
        ${tagsOf} AS tags, ${parametersOf} AS additional_parameters, s.position, s."index", s.series,
        s.size${columns.map((name) => `, s.${name}`).join('')}, s.data
      FROM (SELECT ${renumbered(numbers)} AS series, * FROM (${rows}) ORDER BY number, time_received, position, "index") s
    ) TO ${quoted(path)} (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroup},
      KV_METADATA {${quoted(metadataKey)}: ${bind(blobValue(facts), BLOB)}})`;
  await connection.run(statement, values, types);
}

/** SQL that maps a row's `number` to the series number in the file. */
function renumbered(numbers: readonly number[]): string {
  if (numbers.every((number, own) => number === own)) return 'number';
  const own = new Array<string>((numbers.at(-1) ?? 0) + 1).fill('NULL');
  for (const [at, number] of numbers.entries()) own[number] = String(at);
  return `list_extract([${own.join(',')}]::INTEGER[], number + 1)`;
}
