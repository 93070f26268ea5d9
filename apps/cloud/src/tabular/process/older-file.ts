/** Sealed files of format 1, which earlier versions wrote: their rows are as those of today, their series stand in the footer as JSON. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { BsonDocument, type BsonValue, decodeBson, encodeBson } from '@platform/query';
import type { Series } from '../series.ts';

const metadataKey = 'platform.series';

/** By their numbers. */
export async function readOlderSeries(connection: DuckDBConnection, path: string): Promise<readonly Series[]> {
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

/** Below the first level parameters were kept as they came; equal ones are one series, in whatever order they were sent. */
function sorted(value: BsonValue): BsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!(value instanceof BsonDocument)) return value;
  return new BsonDocument(
    [...value].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  );
}
