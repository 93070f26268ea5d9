/** Seals rows into files in a separate directory, with DuckDB configured as in the child, and reads them back with every column. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Series } from '../catalog/series.ts';
import { openDatabase } from '../process/duckdb/database.ts';
import { type FileFacts, readFacts } from '../process/files/file-facts.ts';
import { sealFiles } from '../process/files/seal-files.ts';
import { createTail } from '../process/hot/tail.ts';
import { writeHotBatch } from '../process/hot/write-hot-batch.ts';
import type { SealedFile } from '../process/messages.ts';
import { defaultTabularSettings } from '../settings.ts';

export interface RowToSeal {
  /** Component name and tag of its series. */
  readonly component: string;
  /** BSON. */
  readonly data: Uint8Array;
  /** Microseconds, or noTime. */
  readonly received: bigint;
  readonly requested: bigint;
}

export interface SealedRows {
  readonly file: SealedFile;
  readonly facts: FileFacts;
  /** Every column by its name, in the order of the file. */
  readRows(): Promise<Record<string, unknown>[]>;
}

export interface TestSealer extends AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly parquetDir: string;
  /** Seals rows of one organization and day; a row's index in the list is its position. */
  seal(rows: readonly RowToSeal[], fileBytes?: number): Promise<SealedRows[]>;
}

export async function openTestSealer(threads = 2): Promise<TestSealer> {
  const parquetDir = await mkdtemp(join(tmpdir(), 'sealing-'));
  const database = openDatabase({ parquetDir, memoryBytes: 1 << 30, threads });
  const connection = await database.connect();
  return {
    connection,
    parquetDir,
    async seal(rows, fileBytes = 128_000_000) {
      const tail = createTail(0);
      const buffer = tail.rows;
      rows.forEach(({ component, data, received, requested }, i) => {
        const row = buffer.next();
        buffer.position[row] = BigInt(i);
        buffer.index[row] = 0;
        buffer.series[row] = tail.seriesId(seriesOf(component));
        buffer.timeReceived[row] = received;
        buffer.timeRequested[row] = requested;
        buffer.timeSynced[row] = 1_000n * BigInt(i);
        buffer.captureDay[row] = 20_000;
        buffer.data[row] = data;
        buffer.dataBytes += data.length;
      });
      const hot = await writeHotBatch(connection, tail, parquetDir);
      const files = await sealFiles(connection, [hot], {
        ...{ parquetDir, hotDirectory: parquetDir, fileBytes },
        rowGroupBytes: defaultTabularSettings.rowGroupBytes,
      });
      const paths = files.map(({ file }) => join(parquetDir, file));
      const facts = await readFacts(connection, paths);
      return files.map((file, i) => ({
        file,
        facts: facts.get(paths[i] as string) as FileFacts,
        async readRows() {
          const select = 'SELECT * FROM read_parquet($1, file_row_number = true)';
          return (await connection.runAndReadAll(select, [paths[i] as string])).getRowObjects();
        },
      }));
    },
    async [Symbol.asyncDispose]() {
      connection.closeSync();
      await rm(parquetDir, { recursive: true, force: true });
    },
  };
}

function seriesOf(component: string): Series {
  return {
    path: {
      organization_id: 'org-1',
      location_id: 'loc-1',
      robot_id: "robot '1'",
      part_id: 'part-1',
      component_type: 'core:component:sensor',
      component_name: component,
      method_name: 'Readings',
    },
    tags: [component, "it's"],
    additionalParameters: Uint8Array.of(5, 0, 0, 0, 0),
  };
}
