/** Datasets: named collections of an organization's files or sequences. */

import { alreadyExists, chunks, failedPrecondition, invalidArgument, newId } from '@platform/base';
import { DatasetType } from '@platform/proto/platform/app/dataset/v1/dataset';
import { countRows } from '../../metadata/count-rows.ts';
import { insertMissing } from '../../metadata/insert-missing.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import type { FileRow } from '../find/find-files.ts';
import type { Dataset } from './find-dataset.ts';

/** Limit per organization. */
const maxDatasets = 10_000;

/** @throws invalid_argument, already_exists when the organization has a dataset of that name, failed_precondition when it has too many */
export async function createDataset(
  trx: Database,
  {
    name,
    organizationId,
    type,
  }: { readonly name: string; readonly organizationId: string; readonly type: DatasetType },
  nowMs: number,
): Promise<Dataset> {
  if (!Object.values<number>(DatasetType).includes(type)) throw invalidArgument(`type: expected 0 or 1, found ${type}`);
  const dataset = { id: newId(), organization_id: organizationId, name: checkedName(name), type, created_ms: nowMs };
  await requireFreeName(trx, dataset);
  const others = await countRows(trx.selectFrom('datasets').where('organization_id', '=', organizationId));
  if (others >= maxDatasets)
    throw failedPrecondition(
      `organization ${organizationId}: expected at most ${maxDatasets} datasets, found that it already has that many; delete some first`,
    );
  await trx.insertInto('datasets').values(dataset).execute();
  return dataset;
}

export async function renameDataset(trx: Database, dataset: Dataset, name: string): Promise<void> {
  const renamed = { ...dataset, name: checkedName(name) };
  await requireFreeName(trx, renamed);
  await trx.updateTable('datasets').set({ name: renamed.name }).where('id', '=', dataset.id).execute();
}

/** The files and sequences in it are kept. */
export async function deleteDataset(trx: Database, { id }: Pick<Dataset, 'id'>): Promise<void> {
  await trx.deleteFrom('dataset_files').where('dataset_id', '=', id).execute();
  await trx.deleteFrom('dataset_sequences').where('dataset_id', '=', id).execute();
  await trx.deleteFrom('datasets').where('id', '=', id).execute();
}

/** Adds the content of all datasets to `into`. @throws invalid_argument when one is of another kind */
export async function mergeDatasets(trx: Database, datasets: readonly Dataset[], into: Dataset): Promise<void> {
  for (const { id } of datasets) {
    await trx
      .insertInto('dataset_files')
      .columns(['dataset_id', 'binary_data_id'])
      .expression((eb) =>
        eb
          .selectFrom('dataset_files')
          .select((one) => [one.val(into.id).as('dataset_id'), 'binary_data_id'])
          .where('dataset_id', '=', id),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await trx
      .insertInto('dataset_sequences')
      .columns(['dataset_id', 'sequence_id'])
      .expression((eb) =>
        eb
          .selectFrom('dataset_sequences')
          .select((one) => [one.val(into.id).as('dataset_id'), 'sequence_id'])
          .where('dataset_id', '=', id),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** @throws invalid_argument for a dataset of sequences, and for files of another organization */
export async function addToDataset(trx: Database, dataset: Dataset, files: readonly FileRow[]): Promise<void> {
  if (dataset.type !== DatasetType.BINARY_DATA)
    throw invalidArgument(
      `dataset ${dataset.id}: expected one of binary data, found one of sequences; see AddSequencesToDataset`,
    );
  const foreign = files.find(({ organization_id }) => organization_id !== dataset.organization_id);
  if (foreign !== undefined)
    throw invalidArgument(
      `binary data ${foreign.id}: expected data of the dataset's organization ${dataset.organization_id}, found data of ${foreign.organization_id}`,
    );
  const members = files.map(({ id }) => ({ dataset_id: dataset.id, binary_data_id: id }));
  await insertMissing(trx.insertInto('dataset_files'), members);
}

export async function removeFromDataset(trx: Database, dataset: Dataset, files: readonly FileRow[]): Promise<void> {
  const ids = files.map(({ id }) => id);
  for (const some of chunks(ids, rowsPerStatement))
    await trx
      .deleteFrom('dataset_files')
      .where('dataset_id', '=', dataset.id)
      .where('binary_data_id', 'in', some)
      .execute();
}

async function requireFreeName(trx: Database, { id, organization_id, name }: Dataset): Promise<void> {
  const other = await trx
    .selectFrom('datasets')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst();
  if (other === undefined) return;
  throw alreadyExists(
    `dataset: expected a name that the organization's other datasets do not have, found ${JSON.stringify(name)} on ${other.id}`,
  );
}
