/**
 * Rewrites the rows of files of one organization and day: merges many small files, so that a query opens tens of files a day instead of
 * hundreds, and removes deleted rows from the disk. The input files stay. Rows keep their position and index, so the switch changes nothing
 * else.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Delete } from '../../catalog/row-filter.ts';
import type { Writer } from '../duckdb/writer.ts';
import { excludeDeleted } from '../merge/exclude-deleted.ts';
import { type SealOptions, writeSealedFiles } from '../merge/write-sealed-files.ts';
import type { FileRef, Rewritten } from '../messages.ts';
import { readFacts } from './file-facts.ts';
import { type Slice, wholeFile } from './slice.ts';

export interface MergeOptions extends SealOptions {
  readonly writer: Writer;
}

export async function mergeFiles(
  connection: DuckDBConnection,
  files: readonly FileRef[],
  deletes: readonly Delete[],
  options: MergeOptions,
): Promise<Rewritten> {
  const slices: Slice[] = [];
  for (const file of files) slices.push(await sliceOf(connection, file, options.parquetDir));
  const [{ captureDay } = { captureDay: '' }] = files;
  const { parquetDir, fileBytes, rowGroupBytes, writer } = options;
  const removed = deletes.length > 0 && { removed: excludeDeleted(deletes, captureDay) };
  const written = await writer.write(slices, (own) =>
    writeSealedFiles(own, slices, { parquetDir, fileBytes, rowGroupBytes, ...removed }),
  );
  // The catalog could not rule out the deletions, but they cover no row of the files.
  if (deletes.length > 0 && written.removed === 0) return { kind: 'unchanged' };
  return { kind: 'files', files: written.files };
}

async function sliceOf(
  connection: DuckDBConnection,
  { file, captureDay }: FileRef,
  parquetDir: string,
): Promise<Slice> {
  const path = join(parquetDir, file);
  if (!existsSync(path)) throw new Error(`${file} does not exist: it was merged meanwhile, or is lost`);
  const facts = (await readFacts(connection, [path])).get(path);
  if (facts === undefined) throw new Error(`${file}: its footer does not describe its rows`);
  return wholeFile(path, captureDay, facts);
}
