/** Stores one upload that the log's follower skipped because its row was lost, after the row was restored. */
import type { Database } from '../../metadata/tables.ts';
import { isListed } from '../find/find-files.ts';
import { insertUploads } from './insert-uploads.ts';
import { readBinaryUpload } from './read-upload.ts';

/** Does nothing if the upload is already stored or has no payload. @param batch LoggedUpload */
export async function insertRestoredUpload(
  db: Database,
  position: number,
  batch: Uint8Array,
  nowMs: number,
): Promise<void> {
  const upload = readBinaryUpload(position, batch);
  if (upload === null) return;
  await db.transaction().execute(async (trx) => {
    if (!(await isListed(trx, upload.row.id))) await insertUploads(trx, [upload], nowMs);
  });
}
