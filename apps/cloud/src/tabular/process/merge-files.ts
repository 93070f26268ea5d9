/**
 * Writes the rows of files of one organization and day anew: many small ones into one, so that a query opens tens of files a day
 * instead of hundreds, and without the rows that are deleted, so that they go from the disk as well.
 */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Delete } from '../row-filter.ts';
import { deletedRows } from './deleted-rows.ts';
import type { FileRef, Rewritten } from './messages.ts';
import { type SealOptions, sealSegment } from './seal-segment.ts';
import { createSegment, type Segment } from './segment.ts';
import { fileSource } from './source.ts';

/** As sealSegment; the files that it read stay. Rows keep their position and index, so nothing else changes with the flip. */
export async function mergeFiles(
  connection: DuckDBConnection,
  files: readonly FileRef[],
  deletes: readonly Delete[],
  options: SealOptions,
): Promise<Rewritten> {
  const segment = createSegment(`merge_${nextTable++}`, 0, () => 0);
  await segment.create(connection);
  try {
    let removed = 0;
    for (const file of files) removed += await copyRows(connection, segment, file, deletes, options);
    // What the catalog said of the file let a deletion concern it, and it did not.
    if (deletes.length > 0 && removed === 0) return { kind: 'unchanged' };
    return { kind: 'files', files: await sealSegment(connection, segment, options) };
  } finally {
    await connection.run(`DROP TABLE ${segment.table}`);
  }
}

/** @returns how many rows were left out. */
async function copyRows(
  connection: DuckDBConnection,
  segment: Segment,
  file: FileRef,
  deletes: readonly Delete[],
  { parquetDir }: SealOptions,
): Promise<number> {
  const source = await fileSource(connection, parquetDir, file, new Map());
  const binds: (string | bigint)[] = [join(parquetDir, file.file)];
  const bind = (value: bigint): string => `$${binds.push(value)}`;
  const gone = deletes.flatMap((deletion) => deletedRows(deletion, source, bind) ?? []).map((rows) => `(${rows})`);
  let removed = 0;
  if (gone.length > 0) {
    const counted = await connection.runAndReadAll(
      `SELECT count(*) FROM read_parquet($1) WHERE ${gone.join(' OR ')}`,
      binds,
    );
    removed = Number(counted.getRows()[0]?.[0]);
  }
  const numbers = source.series.map((each, number) => `(${number}, ${segment.seriesId(each)})`);
  const { day, time } = source;
  await connection.run(
    `INSERT INTO ${segment.table}
      SELECT position, "index", n.merged, ${time('time_requested')}, ${time('time_received')}, ${time('time_synced')}, ${day}, data
      FROM read_parquet($1) JOIN (VALUES ${numbers.join(', ')}) n(own, merged) ON series = n.own
      ${gone.length === 0 ? '' : `WHERE NOT (${gone.join(' OR ')})`}`,
    binds,
  );
  return removed;
}

let nextTable = 1;
