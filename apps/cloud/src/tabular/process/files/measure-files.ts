/** Logical bytes of the rows of certain paths in files, from their footers: no row is read. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { coversSeries, type PathRule } from '../../catalog/row-filter.ts';
import { documentOverheadBytes } from '../rows/row-documents.ts';
import { readFacts } from './file-facts.ts';

/** @returns for each file the bytes by rule */
export async function measureFiles(
  connection: DuckDBConnection,
  parquetDir: string,
  files: readonly string[],
  rules: readonly PathRule[],
): Promise<number[][]> {
  const paths = files.map((file) => join(parquetDir, file));
  const facts = await readFacts(connection, paths);
  return paths.map((path) => {
    const series = facts.get(path)?.series ?? [];
    return rules.map((rule) =>
      series
        .filter((each) => coversSeries(each, { paths: rule }))
        .reduce((sum, each) => sum + each.dataBytes + each.rows * documentOverheadBytes(each), 0),
    );
  });
}
