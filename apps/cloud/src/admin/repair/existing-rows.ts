/** Reads which rows some files contain, by position in the log and index in the upload. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { chunksOf } from '../../tabular/process/pushdown/run-statement.ts';

export async function existingRows(
  connection: DuckDBConnection,
  paths: readonly string[],
): Promise<(position: number, index: number) => boolean> {
  const held = new Map<number, Set<number>>();
  if (paths.length > 0) {
    const files = paths.map((path) => ({ path }));
    const statement = { sql: 'SELECT position, "index" FROM read_parquet($1)', columns: 2, files, binds: [] };
    for await (const chunk of chunksOf(connection, statement)) {
      const [positions, indexes] = [chunk.int64(0), chunk.int32(1)];
      for (let row = 0; row < chunk.rows; row++) {
        const position = Number(positions[row]);
        const ofPosition = held.get(position) ?? new Set();
        ofPosition.add(Number(indexes[row]));
        held.set(position, ofPosition);
      }
    }
  }
  return (position, index) => held.get(position)?.has(index) === true;
}
