/** The limit of a query: DuckDB with two threads over plain typed columns in Parquet, the same rows in the same order. */
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { componentCount, intervalMs, readingAt } from '../src/queries/readings.ts';

export interface TypedColumns extends Disposable {
  /** Runs a statement over the table `readings`; resolves when its rows are JavaScript values. @returns how many. */
  run(sql: string): Promise<number>;
}

export async function openTypedColumns(folder: string, readings: number): Promise<TypedColumns> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await load(connection, readings);
  const file = join(folder, 'typed-columns.parquet');
  await connection.run(
    `COPY (SELECT * FROM loaded ORDER BY part, component_name, time_received) TO '${file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 61440)`,
  );
  await connection.run('DROP TABLE loaded');
  await connection.run(`CREATE VIEW readings AS SELECT * FROM read_parquet('${file}')`);
  return {
    async run(sql) {
      const read = await connection.runAndReadAll(sql);
      return read.getColumns()[0]?.length ?? 0;
    },
    [Symbol.dispose]() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function load(connection: DuckDBConnection, readings: number): Promise<void> {
  await connection.run(
    'CREATE TABLE loaded (part VARCHAR, component_name VARCHAR, time_received TIMESTAMP, temperature DOUBLE, humidity DOUBLE, pressure DOUBLE, door BOOLEAN, state VARCHAR)',
  );
  const { DuckDBTimestampValue } = await import('@duckdb/node-api');
  const each = Math.ceil(readings / componentCount);
  const everyMs = intervalMs(readings);
  for (let component = 0; component < componentCount; component++) {
    const appender = await connection.createAppender('loaded');
    for (let n = 0; n < each; n++) {
      const reading = readingAt(component, n, everyMs);
      appender.appendVarchar(`part of robot-${component % 50}`);
      appender.appendVarchar(reading.component);
      appender.appendTimestamp(new DuckDBTimestampValue(BigInt(reading.receivedMs) * 1_000n));
      appender.appendDouble(reading.temperature);
      appender.appendDouble(reading.humidity);
      appender.appendDouble(reading.pressure);
      appender.appendBoolean(reading.door);
      appender.appendVarchar(reading.state);
      appender.endRow();
    }
    appender.closeSync();
  }
}
