/** Reads sealed files of format 1, written by earlier versions: their footers hold the series as JSON, and leaves have no columns. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { BsonDocument, type BsonValue, decodeBson, encodeBson } from '@platform/query';
import { dayNumber } from '../../../reading-codec/capture-day.ts';
import type { Series } from '../../catalog/series.ts';
import type { HotBatch } from '../hot/hot-batch.ts';
import { createTail, isTailFull, type TailLimits } from '../hot/tail.ts';
import { writeHotBatch } from '../hot/write-hot-batch.ts';
import { chunksOf } from '../pushdown/run-statement.ts';
import { noTime } from '../rows/row-buffer.ts';

const metadataKey = 'platform.series';

export interface LegacyFileOptions {
  readonly path: string;
  /** "YYYY-MM-DD" */
  readonly captureDay: string;
  /** Of the files that are written. */
  readonly directory: string;
  /** When one of these is full. */
  readonly limits: TailLimits;
}

/**
 * Writes its rows to files in the current columns, which the caller removes.
 *
 * @param writer a connection other than the reading one
 */
export async function readLegacyFile(
  connection: DuckDBConnection,
  writer: DuckDBConnection,
  { path, captureDay, directory, limits }: LegacyFileOptions,
): Promise<HotBatch[]> {
  const series = await readLegacySeries(connection, path);
  const times = ['time_requested', 'time_received', 'time_synced'].map((time) => `coalesce(${time}, ${noTime})`);
  const statement = {
    sql: `SELECT position, "index", series, ${times.join(', ')}, data FROM read_parquet($1)`,
    columns: 7,
    files: [{ path }],
    binds: [],
  };
  const day = dayNumber(captureDay);
  const batches: HotBatch[] = [];
  let tail = createTail(0);
  for await (const chunk of chunksOf(connection, statement)) {
    const [position, index, number] = [chunk.int64(0), chunk.int32(1), chunk.int32(2)];
    const [requested, received, synced] = [chunk.int64(3), chunk.int64(4), chunk.int64(5)];
    const dataOf = chunk.blob(6);
    for (let i = 0; i < chunk.rows; i++) {
      const { rows } = tail;
      const row = rows.next();
      rows.position[row] = position[i] as bigint;
      rows.index[row] = index[i] as number;
      rows.series[row] = tail.seriesId(series[number[i] as number] as Series);
      rows.timeRequested[row] = requested[i] as bigint;
      rows.timeReceived[row] = received[i] as bigint;
      rows.timeSynced[row] = synced[i] as bigint;
      rows.captureDay[row] = day;
      const data = new Uint8Array(dataOf(i));
      rows.data[row] = data;
      rows.dataBytes += data.length;
      if (!isTailFull(tail, limits)) continue;
      batches.push(await writeHotBatch(writer, tail, directory));
      tail = createTail(0);
    }
  }
  if (tail.rows.rows > 0) batches.push(await writeHotBatch(writer, tail, directory));
  return batches;
}

/** The series by number. */
export async function readLegacySeries(connection: DuckDBConnection, path: string): Promise<readonly Series[]> {
  const result = await connection.runAndReadAll(
    'SELECT decode(value) FROM parquet_kv_metadata($1) WHERE decode(key) = $2',
    [path, metadataKey],
  );
  const [row] = result.getRows();
  if (row === undefined)
    throw new Error(`expected ${metadataKey} in the metadata of ${path}, found none: not a file of ours`);
  const stored = JSON.parse(String(row[0])) as {
    readonly path: Series['path'];
    readonly tags: readonly string[];
    /** Base64. */
    readonly additionalParameters: string;
  }[];
  return stored.map(({ additionalParameters, ...series }) => ({
    ...series,
    additionalParameters: encodeBson(sorted(decodeBson(Buffer.from(additionalParameters, 'base64'))) as BsonDocument),
  }));
}

/** Earlier versions did not sort parameters below the first level. Equal parameters form one series, whatever order they were sent in. */
function sorted(value: BsonValue): BsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!(value instanceof BsonDocument)) return value;
  return new BsonDocument(
    [...value].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  );
}
