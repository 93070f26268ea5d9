/** Writes the rows of many small files of one organization and day into one: a query opens tens of files a day instead of hundreds. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { FileRef, SealedFile } from './messages.ts';
import { type SealOptions, sealSegment } from './seal-segment.ts';
import { createSegment } from './segment.ts';
import { fileSource } from './source.ts';

/** As sealSegment; the files that it read stay. Rows keep their position and index, so nothing else changes with the flip. */
export async function mergeFiles(
  connection: DuckDBConnection,
  files: readonly FileRef[],
  options: SealOptions,
): Promise<SealedFile[]> {
  const segment = createSegment(`merge_${nextTable++}`, 0, () => 0);
  await segment.create(connection);
  try {
    for (const file of files) {
      const { series, day, time } = await fileSource(connection, options.parquetDir, file, new Map());
      const numbers = series.map((each, number) => `(${number}, ${segment.seriesId(each)})`);
      await connection.run(
        `INSERT INTO ${segment.table}
          SELECT position, "index", n.merged, ${time('time_requested')}, ${time('time_received')}, ${time('time_synced')}, ${day}, data
          FROM read_parquet($1) JOIN (VALUES ${numbers.join(', ')}) n(own, merged) ON series = n.own`,
        [join(options.parquetDir, file.file)],
      );
    }
    return await sealSegment(connection, segment, options);
  } finally {
    await connection.run(`DROP TABLE ${segment.table}`);
  }
}

let nextTable = 1;
