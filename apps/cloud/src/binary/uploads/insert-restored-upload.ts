/** Enters one upload that the follower of the log has passed by: its row was lost then, and is back. */
import type { Database } from '../../metadata/tables.ts';
import { insertUploads } from './insert-uploads.ts';
import { readBinaryUpload } from './read-upload.ts';

/** Does nothing where it is listed already, or has no payload. @param batch LoggedUpload */
export async function insertRestoredUpload(
  db: Database,
  position: number,
  batch: Uint8Array,
  nowMs: number,
): Promise<void> {
  const upload = readBinaryUpload(position, batch);
  if (upload === null) return;
  await db.transaction().execute(async (trx) => {
    const listed = await trx.selectFrom('binary_data').select('id').where('id', '=', upload.row.id).executeTakeFirst();
    if (listed === undefined) await insertUploads(trx, [upload], nowMs);
  });
}
