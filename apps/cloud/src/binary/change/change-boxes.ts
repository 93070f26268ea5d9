/** Adds, changes and removes the bounding boxes of a picture. */

import { failedPrecondition, invalidArgument } from '@platform/base';
import type { UpdateBoundingBoxRequest } from '@platform/proto/platform/app/data/v1/data';
import { notVisible } from '../../access/principal.ts';
import { countRows } from '../../metadata/count-rows.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database } from '../../metadata/tables.ts';
import type { FileRow } from '../find/find-files.ts';
import { maxBoxes } from '../limits.ts';
import { fileBoxes, ofFile } from '../store.ts';
import { type BoxCoordinates, coordinatesText, isPlace, readCoordinates } from './box-coordinates.ts';
import { checkedLabel } from './check-texts.ts';

/** @throws invalid_argument, failed_precondition when the picture has too many */
export async function addBox(
  trx: Database,
  file: FileRow,
  box: { readonly id: string; readonly label: string; readonly place: BoxCoordinates },
  nowMs: number,
): Promise<void> {
  const label = checkedLabel(box.label, 'label');
  const place = coordinatesText(checkedPlace(box.place));
  const others = await countRows(trx.selectFrom('binary_data_boxes').where('binary_data_id', '=', file.id));
  if (others >= maxBoxes)
    throw failedPrecondition(
      `binary data ${file.id}: expected at most ${maxBoxes} bounding boxes, found that it already has that many; remove some first`,
    );
  await trx
    .insertInto('binary_data_boxes')
    .values({ id: box.id, binary_data_id: file.id, label, place, created_ms: nowMs, ...ofFile(file) })
    .execute();
}

/** Fields missing from the request do not change. @throws not_found, invalid_argument */
export async function updateBox(trx: Database, file: FileRow, change: UpdateBoundingBoxRequest): Promise<void> {
  const box = await trx
    .selectFrom('binary_data_boxes')
    .selectAll()
    .where('id', '=', change.bboxId)
    .where('binary_data_id', '=', file.id)
    .executeTakeFirst();
  if (box === undefined) throw notVisible('bounding box', change.bboxId);
  requireRight(fileBoxes, [box]);
  const before = readCoordinates(box.place);
  const confidence = change.confidence ?? before.confidence;
  const place = checkedPlace({
    xMinNormalized: change.xMinNormalized ?? before.xMinNormalized,
    yMinNormalized: change.yMinNormalized ?? before.yMinNormalized,
    xMaxNormalized: change.xMaxNormalized ?? before.xMaxNormalized,
    yMaxNormalized: change.yMaxNormalized ?? before.yMaxNormalized,
    ...(confidence !== undefined && { confidence }),
  });
  await trx
    .updateTable('binary_data_boxes')
    .set({
      label: change.label === undefined ? box.label : checkedLabel(change.label, 'label'),
      place: coordinatesText(place),
    })
    .where('id', '=', box.id)
    .execute();
}

/** @throws not_found */
export async function removeBox(trx: Database, file: FileRow, boxId: string): Promise<void> {
  const removed = await trx
    .deleteFrom('binary_data_boxes')
    .where('id', '=', boxId)
    .where('binary_data_id', '=', file.id)
    .returning('id')
    .execute();
  if (removed.length === 0) throw notVisible('bounding box', boxId);
}

function checkedPlace(place: BoxCoordinates): BoxCoordinates {
  if (isPlace(place)) return place;
  const { xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence } = place;
  throw invalidArgument(
    `bounding box: expected fractions from 0 to 1 with x_min ≤ x_max and y_min ≤ y_max, found x ${xMinNormalized} to ${xMaxNormalized}, y ${yMinNormalized} to ${yMaxNormalized}${confidence === undefined ? '' : `, confidence ${confidence}`}`,
  );
}
