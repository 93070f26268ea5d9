/**
 * Limits the stored size of a part's configuration history, so that saving cannot fill the disk. The oldest versions lose their documents
 * but keep their authors and times.
 */
import type { Database } from '../../metadata/tables.ts';

/** Limit for the documents of one part together. */
export const maxHistoryBytes: number = 64 * 1024 * 1024;

const rowsAtOnce = 100;

/** Stored size of a part's documents. */
export async function keptBytesOf(trx: Database, partId: string): Promise<number> {
  const row = await trx
    .selectFrom('part_configurations')
    .select((eb) => eb.fn.sum<number | string>('bytes').as('bytes'))
    .where('part_id', '=', partId)
    .where('document', '!=', '')
    .executeTakeFirst();
  return Number(row?.bytes ?? 0);
}

/**
 * Runs in the transaction that saved version `newest`, whose document is always kept. If the limit is exceeded, reduces the size to three
 * quarters of it, so that this is not repeated at every save.
 *
 * @param keptBytes size of the documents before
 * @returns their size afterwards
 */
export async function dropOldDocuments(
  trx: Database,
  partId: string,
  { newest, keptBytes, maxBytes }: { newest: number; keptBytes: number; maxBytes: number },
): Promise<number> {
  if (keptBytes <= maxBytes) return keptBytes;
  let kept = keptBytes;
  for (let upTo = 0; kept > maxBytes * 0.75; ) {
    const rows = await trx
      .selectFrom('part_configurations')
      .select(['version', 'bytes'])
      .where('part_id', '=', partId)
      .where('version', '>', upTo)
      .where('version', '<', newest)
      .where('document', '!=', '')
      .orderBy('version')
      .limit(rowsAtOnce)
      .execute();
    if (rows.length === 0) return kept;
    for (const { version, bytes } of rows) {
      if (kept <= maxBytes * 0.75) break;
      kept -= bytes;
      upTo = version;
    }
    await trx
      .updateTable('part_configurations')
      .set({ document: '' })
      .where('part_id', '=', partId)
      .where('version', '<=', upTo)
      .where('document', '!=', '')
      .execute();
  }
  return kept;
}
