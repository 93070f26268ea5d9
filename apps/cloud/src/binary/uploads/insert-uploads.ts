/** Writes the uploads read by the follower: the rows, their tags, boxes and datasets, in the transaction that moves the cursor (I11). */

import { chunks, newId } from '@platform/base';
import { DatasetType } from '@platform/proto/platform/app/dataset/v1/dataset';
import { insertMissing } from '../../metadata/insert-missing.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database, DatabaseTransaction } from '../../metadata/tables.ts';
import { coordinatesText, isPlace } from '../change/box-coordinates.ts';
import { maxBoxes } from '../limits.ts';
import { type BinaryTables, ofFile } from '../store.ts';
import type { BinaryUpload } from './read-upload.ts';

export async function insertUploads(
  trx: DatabaseTransaction,
  uploads: readonly BinaryUpload[],
  nowMs: number,
): Promise<void> {
  const inserted = new Set<string>();
  for (const some of chunks(
    uploads.map(({ row }) => row),
    rowsPerStatement,
  ))
    for (const { id } of await trx
      .insertInto('binary_data')
      .values(some)
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute())
      inserted.add(id);
  // Those of a file that is stored already may have been changed since.
  const tags = uploads
    .filter(({ row }) => inserted.has(row.id))
    .flatMap((upload) => upload.tags.map((tag) => ({ binary_data_id: upload.row.id, tag, ...ofFile(upload.row) })));
  await insertMissing(trx.insertInto('binary_data_tags'), tags);
  const boxes = uploads.flatMap(({ row, boxes: given }) =>
    given
      .filter(isPlace)
      .slice(0, maxBoxes)
      .map((box) => ({
        id: newId(),
        binary_data_id: row.id,
        label: box.label,
        place: coordinatesText(box),
        created_ms: nowMs,
        ...ofFile(row),
      })),
  );
  for (const some of chunks(boxes, rowsPerStatement)) await trx.insertInto('binary_data_boxes').values(some).execute();
  await insertMissing(trx.insertInto('dataset_files'), await membersOf(trx, uploads));
}

/** A dataset that does not exist or belongs to another organization is ignored; the upload is still stored. */
async function membersOf(
  trx: DatabaseTransaction,
  uploads: readonly BinaryUpload[],
): Promise<readonly BinaryTables['dataset_files'][]> {
  const named = [...new Set(uploads.flatMap(({ datasetIds }) => datasetIds))];
  const members: BinaryTables['dataset_files'][] = [];
  for (const ids of chunks(named, rowsPerStatement)) {
    const datasets = await trx
      .selectFrom('datasets')
      .select(['id', 'organization_id'])
      .where('id', 'in', ids)
      .where('type', '=', DatasetType.BINARY_DATA)
      .execute();
    for (const { row, datasetIds } of uploads)
      for (const { id, organization_id } of datasets)
        if (organization_id === row.organization_id && datasetIds.includes(id))
          members.push({ dataset_id: id, binary_data_id: row.id });
  }
  return members;
}

/** 0: none is stored. */
export async function lastStoredPosition(db: Database): Promise<number> {
  const row = await db
    .selectFrom('binary_data')
    .select(({ fn }) => fn.max('position').as('position'))
    .executeTakeFirst();
  return Number(row?.position ?? 0);
}
