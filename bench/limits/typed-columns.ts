/** The limit for a query: DuckDB with two threads over plain typed columns in Parquet, with the same rows in the same order. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, DuckDBTimestampValue } from '@duckdb/node-api';
import { BsonDocument, encodeBson } from '@platform/query';
import { partOf, type SeriesAt, seriesOfMachines } from '../src/queries/fill.ts';
import { componentCount, documentOf, intervalMs, readingAt } from '../src/queries/readings.ts';
import { bsonOf } from '../src/readings/bson-of.ts';

export interface TypedColumns extends Disposable {
  /** Size of the Parquet file. */
  readonly fileBytes: number;
  /** Runs a statement over the table `readings`; resolves when its rows are JavaScript values. @returns the number of rows. */
  run(sql: string): Promise<number>;
  /** The same, with rows as BSON documents. @returns the number of rows. */
  encoded(sql: string): Promise<number>;
}

export interface TypedColumnsOptions {
  /** Default: each component on one machine. */
  readonly seriesAt?: SeriesAt;
  /** Also store the document of each reading as BSON. Default: false. */
  readonly documents?: boolean;
}

export async function openTypedColumns(
  folder: string,
  readings: number,
  options: TypedColumnsOptions = {},
): Promise<TypedColumns> {
  const file = join(folder, options.documents === true ? 'with-documents.parquet' : 'typed-columns.parquet');
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await load(connection, readings, options);
  await connection.run(
    `COPY (SELECT * FROM loaded ORDER BY part, component_name, time_received) TO '${file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 61440)`,
  );
  connection.closeSync();
  instance.closeSync();
  return openParquet(file);
}

/** Opens a file that an earlier call wrote. */
export async function openParquet(file: string): Promise<TypedColumns> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await connection.run(`CREATE VIEW readings AS SELECT * FROM read_parquet('${file}')`);
  return {
    fileBytes: statSync(file).size,
    async run(sql) {
      const read = await connection.runAndReadAll(sql);
      return read.getColumns()[0]?.length ?? 0;
    },
    async encoded(sql) {
      // Concurrent clients do not wait for each other.
      const asking = await instance.connect();
      try {
        const read = await asking.runAndReadAll(sql);
        const names = read.columnNames();
        const rows = read.getRowsJS();
        for (const row of rows) encodeBson(new BsonDocument(names.map((name, at) => [name, bsonOf(row[at])])));
        return rows.length;
      } finally {
        asking.closeSync();
      }
    },
    [Symbol.dispose]() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function load(
  connection: DuckDBConnection,
  readings: number,
  { seriesAt = seriesOfMachines, documents = false }: TypedColumnsOptions,
): Promise<void> {
  const document = documents ? ', data BLOB' : '';
  await connection.run(
    `CREATE TABLE loaded (part VARCHAR, component_name VARCHAR, time_received TIMESTAMP, temperature DOUBLE, humidity DOUBLE, pressure DOUBLE, door BOOLEAN, state VARCHAR${document})`,
  );
  const each = Math.ceil(readings / componentCount);
  const everyMs = intervalMs(readings);
  for (let index = 0; index < componentCount; index++) {
    const series = seriesAt(index);
    const appender = await connection.createAppender('loaded');
    for (let n = 0; n < each; n++) {
      const reading = readingAt(index, n, everyMs);
      appender.appendVarchar(partOf(series));
      appender.appendVarchar(series.component);
      appender.appendTimestamp(new DuckDBTimestampValue(BigInt(reading.receivedMs) * 1_000n));
      appender.appendDouble(reading.temperature);
      appender.appendDouble(reading.humidity);
      appender.appendDouble(reading.pressure);
      appender.appendBoolean(reading.door);
      appender.appendVarchar(reading.state);
      if (documents) appender.appendBlob(encodeBson(documentOf(reading)));
      appender.endRow();
    }
    appender.closeSync();
  }
}
