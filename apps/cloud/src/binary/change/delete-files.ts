/**
 * Deletes files: their rows at once, their payloads soon after.
 *
 * Rows and everything attached are deleted in the caller's transaction. They cannot reappear, because the follower's cursor has passed
 * them. Their payloads are recorded in the same transaction, and `removePayloads` removes those that no other row uses.
 */

import { chunks } from '@platform/base';
import type { BlobStore } from '../../blobs/blob-store.ts';
import type { IngestLog } from '../../ingest/log/log.ts';
import { insertMissing } from '../../metadata/insert-missing.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import type { FileRow } from '../find/find-files.ts';

/** Returns how many were deleted. */
export async function deleteFiles(trx: Database, files: readonly Pick<FileRow, 'id' | 'blob_path'>[]): Promise<number> {
  for (const some of chunks(files, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    for (const table of ['binary_data_tags', 'binary_data_boxes', 'dataset_files'] as const)
      await trx.deleteFrom(table).where('binary_data_id', 'in', ids).execute();
    await trx.deleteFrom('binary_data').where('id', 'in', ids).execute();
  }
  const removals = files.map(({ blob_path }) => ({ blob_path }));
  await insertMissing(trx.insertInto('binary_data_removals'), removals);
  return files.length;
}

const removalsAtOnce = 100;

/**
 * A step for `follow`: true when there may be more. The log forgets a payload before its file is removed. After a crash between the two, no
 * row names the payload, so it is swept.
 */
export async function removePayloads(
  db: Database,
  blobs: Pick<BlobStore, 'remove'>,
  ingestLog: Pick<IngestLog, 'forgetBlobs'>,
): Promise<boolean> {
  const waiting = await db.selectFrom('binary_data_removals').selectAll().limit(removalsAtOnce).execute();
  const paths = waiting.map(({ blob_path }) => blob_path);
  if (paths.length === 0) return false;
  const used = await db.selectFrom('binary_data').select('blob_path').where('blob_path', 'in', paths).execute();
  const gone = paths.filter((path) => !used.some(({ blob_path }) => blob_path === path));
  await ingestLog.forgetBlobs(gone);
  for (const path of gone) await blobs.remove(path);
  await db.deleteFrom('binary_data_removals').where('blob_path', 'in', paths).execute();
  return waiting.length === removalsAtOnce;
}
