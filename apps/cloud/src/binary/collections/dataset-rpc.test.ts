import type { DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf';
import { DatasetType } from '@platform/proto/platform/app/dataset/v1/dataset';
import { expect, test } from 'vitest';
import { callers, data, dataset, type OpenBinary, openBinary } from '../testing/open-binary.ts';

const make = async (on: OpenBinary, name: string): Promise<string> =>
  (await on.ask(callers.owner, dataset.createDataset, { name, organizationId: 'acme' })).id;

async function filesIn(on: OpenBinary, datasetId: string): Promise<readonly string[]> {
  const { data: found } = await on.ask(callers.owner, data.binaryDataByFilter, {
    dataRequest: { filter: { datasetId } },
  });
  return found.map(({ metadata }) => metadata?.binaryDataId ?? '').toSorted();
}

test('a dataset is created, listed, renamed, filled, merged and deleted, and its files stay', async () => {
  const on = await openBinary();
  const [one, two] = [await on.upload(), await on.upload({ machine: 'mill' })];
  const first = await make(on, ' First ');
  const second = await make(on, 'Second');
  const sequences = await on.ask(callers.owner, dataset.createDataset, {
    name: 'Sequences',
    organizationId: 'acme',
    type: DatasetType.SEQUENCE_DATA,
  });
  const list = async (type?: DatasetType) => {
    const asked = { organizationId: 'acme', ...(type !== undefined && { type }) };
    return (await on.ask(callers.operator, dataset.listDatasetsByOrganizationID, asked)).datasets.map(
      ({ name }) => name,
    );
  };
  expect((await list()).toSorted()).toEqual(['First', 'Second', 'Sequences']);
  expect(await list(DatasetType.SEQUENCE_DATA)).toEqual(['Sequences']);
  await on.ask(callers.owner, dataset.renameDataset, { id: first, name: 'Dogs' });
  const { datasets } = await on.ask(callers.operator, dataset.listDatasetsByIDs, { ids: [first, first] });
  expect(datasets).toMatchObject([{ id: first, name: 'Dogs', organizationId: 'acme', type: DatasetType.BINARY_DATA }]);
  expect(Number(datasets[0]?.timeCreated?.seconds)).toBeGreaterThan(1_600_000_000);

  for (let twice = 0; twice < 2; twice++)
    await on.ask(callers.owner, data.addBinaryDataToDatasetByIDs, { datasetId: first, binaryDataIds: [one] });
  await on.ask(callers.owner, data.addBinaryDataToDatasetByIDs, { datasetId: second, binaryDataIds: [one, two] });
  const { datasetId } = await on.ask(callers.owner, dataset.mergeDatasets, {
    datasetIds: [first, second],
    name: 'Both',
    organizationId: 'acme',
  });
  expect(await filesIn(on, datasetId)).toEqual([one, two].toSorted());
  await on.ask(callers.owner, data.removeBinaryDataFromDatasetByIDs, { datasetId: second, binaryDataIds: [one] });
  expect(await filesIn(on, second)).toEqual([two]);
  const described = await on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [one] });
  expect(described.data[0]?.metadata?.datasetIds).toEqual([first, datasetId].toSorted());
  const ofHall = await on.ask(callers.hallOperator, data.binaryDataByIDs, { binaryDataIds: [one] });
  expect(ofHall.data[0]?.metadata?.datasetIds).toEqual([]);

  await on.ask(callers.owner, dataset.deleteDataset, { id: datasetId });
  expect(await filesIn(on, datasetId)).toEqual([]);
  expect(await on.ids()).toEqual([one, two].toSorted());
  const trail = await on.db.selectFrom('audit_entries').select('action').where('target_kind', '=', 'dataset').execute();
  expect(trail.map(({ action }) => action.replace('DatasetService.', ''))).toEqual([
    'CreateDataset',
    'CreateDataset',
    'CreateDataset',
    'RenameDataset',
    'MergeDatasets',
    'DeleteDataset',
  ]);

  const intoSequences = { datasetId: sequences.id, binaryDataIds: [one] };
  await expect(on.ask(callers.owner, data.addBinaryDataToDatasetByIDs, intoSequences)).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  const mixed = { datasetIds: [first, sequences.id], name: 'x', organizationId: 'acme' };
  await expect(on.ask(callers.owner, dataset.mergeDatasets, mixed)).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(make(on, 'Dogs')).rejects.toMatchObject({ code: 'already_exists' });
  await expect(make(on, '')).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('an upload is added to the datasets it names if they belong to its organization', async () => {
  const on = await openBinary();
  const own = await make(on, 'own');
  const asked = { name: 'theirs', organizationId: 'umbrella' };
  const { id: theirs } = await on.ask(callers.stranger, dataset.createDataset, asked);
  const id = await on.upload({ metadata: { datasetIds: [own, theirs, 'never'] } });
  expect(await filesIn(on, own)).toEqual([id]);
  const { data: found } = await on.ask(callers.stranger, data.binaryDataByFilter, {
    dataRequest: { filter: { datasetId: theirs } },
  });
  expect(found).toEqual([]);
});

test('R2 datasets of others are not visible, and operators change none', async () => {
  const on = await openBinary();
  const id = await make(on, 'own');
  const file = await on.upload();
  const calls = (
    datasetId: string,
  ): readonly (readonly [DescMethodUnary, MessageInitShape<DescMethodUnary['input']>])[] => [
    [dataset.renameDataset, { id: datasetId, name: 'n' }],
    [dataset.deleteDataset, { id: datasetId }],
    [dataset.mergeDatasets, { datasetIds: [datasetId], name: 'n', organizationId: 'acme' }],
    [data.addBinaryDataToDatasetByIDs, { datasetId, binaryDataIds: [file] }],
    [data.removeBinaryDataFromDatasetByIDs, { datasetId, binaryDataIds: [file] }],
  ];
  for (const [method, request] of calls(id)) {
    await expect(on.ask(callers.operator, method, request), method.name).rejects.toMatchObject({
      code: 'permission_denied',
    });
    await expect(on.ask(callers.stranger, method, request), method.name).rejects.toMatchObject({ code: 'not_found' });
    await expect(on.ask(callers.part, method, request), method.name).rejects.toMatchObject({ code: 'not_found' });
  }
  for (const [method, request] of calls('never'))
    await expect(on.ask(callers.owner, method, request), method.name).rejects.toThrow(
      /dataset: expected the id of one that you may see/,
    );
  await expect(on.ask(callers.stranger, dataset.listDatasetsByIDs, { ids: [id] })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(on.ask(callers.hallOperator, dataset.listDatasetsByIDs, { ids: [id] })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(
    on.ask(callers.stranger, dataset.listDatasetsByOrganizationID, { organizationId: 'acme' }),
  ).rejects.toMatchObject({
    code: 'not_found',
  });
  // Even an owner of both organizations cannot put files of one into the other's dataset.
  const both = { ...callers.owner, grants: [...callers.owner.grants, ...callers.stranger.grants] };
  const foreign = await on.upload({ machine: 'probe' });
  await expect(
    on.ask(both, data.addBinaryDataToDatasetByIDs, { datasetId: id, binaryDataIds: [file, foreign] }),
  ).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(await filesIn(on, id)).toEqual([]);
});
