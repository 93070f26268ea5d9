import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DatasetType } from '@platform/proto/platform/app/dataset/v1/dataset';
import { expect, test } from 'vitest';
import { callers, data, dataset, type OpenBinary, openBinary } from '../testing/open-binary.ts';

const startMs = Date.UTC(2026, 0, 1);
const times = { startTime: timestampFromMs(startMs), endTime: timestampFromMs(startMs + 10_000) };

const make = async (on: OpenBinary, more: object = {}): Promise<string> =>
  (await on.ask(callers.owner, data.createSequence, { partId: 'press-main', ...times, ...more })).id;

async function filesIn(on: OpenBinary, sequenceId: string, pageSize = 0): Promise<readonly string[]> {
  const names: string[] = [];
  for (let pageToken = ''; ; ) {
    const page = await on.ask(callers.operator, data.getSequenceBinaryData, { sequenceId, pageToken, pageSize });
    names.push(...page.data.map(({ metadata }) => metadata?.fileName ?? ''));
    if (page.nextPageToken === '') return names;
    pageToken = page.nextPageToken;
  }
}

test('a sequence returns the files of its part, resources and time, in order and page by page', async () => {
  const on = await openBinary();
  const put = (fileName: string, atMs: number, metadata: object = {}, machine = 'press') =>
    on.upload({ atMs: startMs + atMs, machine, metadata: { fileName, ...metadata } });
  await put('before', -1);
  await put('second', 1_000);
  await put('first', 0);
  await put('lidar', 2_000, { componentName: 'lidar' });
  await put('cloud', 3_000, { componentName: 'lidar', methodName: 'NextPointCloud' });
  await put('end', 10_000);
  await put('of the mill', 1_000, {}, 'mill');

  expect(await filesIn(on, await make(on))).toEqual(['first', 'second', 'lidar', 'cloud']);
  expect(await filesIn(on, await make(on), 1)).toEqual(['first', 'second', 'lidar', 'cloud']);
  const ofLidar = await make(on, { resources: [{ resourceName: 'lidar' }] });
  expect(await filesIn(on, ofLidar)).toEqual(['lidar', 'cloud']);
  const resources = [{ resourceName: 'lidar', methodName: 'NextPointCloud' }, { resourceName: 'cam' }];
  expect(await filesIn(on, await make(on, { resources }))).toEqual(['first', 'second', 'cloud']);
});

test('a sequence is returned as created, changed according to its mask, listed and deleted', async () => {
  const on = await openBinary();
  const id = await make(on, { sequenceTags: ['night'], resources: [{ resourceName: 'cam', methodName: 'GetImages' }] });
  const { sequence } = await on.ask(callers.hallOperator, data.getSequence, { id });
  expect(sequence).toMatchObject({
    id,
    partId: 'press-main',
    sequenceTags: ['night'],
    resources: [{ resourceName: 'cam', methodName: 'GetImages' }],
    datasetIds: [],
    ...times,
  });
  expect(sequence?.createdAt && timestampDate(sequence.createdAt).getTime()).toBeGreaterThan(1.6e12);

  const change = { id, sequenceTags: ['day'], fieldMask: { paths: ['sequence_tags', 'resources'] } };
  await on.ask(callers.owner, data.updateSequence, change);
  await on.ask(callers.owner, data.updateSequence, { id, endTime: timestampFromMs(startMs + 5_000) });
  const after = (await on.ask(callers.owner, data.getSequence, { id })).sequence;
  expect(after).toMatchObject({ sequenceTags: ['day'], resources: [], startTime: times.startTime });
  expect(after?.endTime).toEqual(timestampFromMs(startMs + 5_000));

  const others = [await make(on), await make(on)];
  const list = async (caller = callers.owner) => {
    const ids: string[] = [];
    for (let pageToken = ''; ; ) {
      const asked = { organizationId: 'acme', pageToken, pageSize: 2 };
      const page = await on.ask(caller, data.listSequences, asked);
      ids.push(...page.sequences.map((one) => one.id));
      if (page.nextPageToken === '') return ids.toSorted();
      pageToken = page.nextPageToken;
    }
  };
  expect(await list()).toEqual([id, ...others].toSorted());
  expect(await list(callers.millOperator)).toEqual([]);
  await on.ask(callers.pressOwner, data.deleteSequence, { id });
  expect(await list()).toEqual(others.toSorted());
  const trail = await on.db.selectFrom('audit_entries').select('action').where('target_id', '=', id).execute();
  expect(trail.map(({ action }) => action.replace('DataService.', ''))).toEqual([
    'CreateSequence',
    'UpdateSequence',
    'UpdateSequence',
    'DeleteSequence',
  ]);
});

test('sequences are added to datasets of sequences, and removed from them when they are deleted', async () => {
  const on = await openBinary();
  const [one, two] = [await make(on), await make(on)];
  const asked = { name: 's', organizationId: 'acme', type: DatasetType.SEQUENCE_DATA };
  const { id: datasetId } = await on.ask(callers.owner, dataset.createDataset, asked);
  for (let twice = 0; twice < 2; twice++)
    await on.ask(callers.owner, data.addSequencesToDataset, { datasetId, sequenceIds: [one, two] });
  const inDataset = async () => {
    const { sequences } = await on.ask(callers.operator, data.sequencesByDatasetID, { datasetId });
    return sequences.map(({ id, datasetIds }) => [id, ...datasetIds].join(' in ')).toSorted();
  };
  expect(await inDataset()).toEqual([`${one} in ${datasetId}`, `${two} in ${datasetId}`].toSorted());
  const counted = { datasetId, countOnly: true, pageSize: 1 };
  const answer = await on.ask(callers.operator, data.sequencesByDatasetID, counted);
  expect(answer).toMatchObject({ sequences: [], nextPageToken: '', count: 2n });
  await on.ask(callers.owner, data.removeSequencesFromDataset, { datasetId, sequenceIds: [one] });
  expect(await inDataset()).toEqual([`${two} in ${datasetId}`]);
  await on.ask(callers.owner, data.deleteSequence, { id: two });
  expect(await inDataset()).toEqual([]);

  const { id: ofFiles } = await on.ask(callers.owner, dataset.createDataset, { name: 'f', organizationId: 'acme' });
  const wrong = { datasetId: ofFiles, sequenceIds: [one] };
  await expect(on.ask(callers.owner, data.addSequencesToDataset, wrong)).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

test('R2 R6 sequences of others are not visible, operators change none, and invalid requests are refused', async () => {
  const on = await openBinary();
  const id = await make(on);
  await on.upload({ atMs: startMs });
  const create = { partId: 'press-main', ...times };
  const changes = [
    [data.updateSequence, { id, sequenceTags: ['t'] }],
    [data.deleteSequence, { id }],
    [data.createSequence, create],
  ] as const;
  for (const [method, request] of changes) {
    const refusal = (caller: Parameters<OpenBinary['ask']>[0]) =>
      expect(on.ask<typeof method>(caller, method, request as never), method.name).rejects;
    await refusal(callers.operator).toMatchObject({ code: 'permission_denied' });
    await refusal(callers.stranger).toMatchObject({ code: 'not_found' });
  }
  for (const caller of [callers.stranger, callers.millOperator, callers.part]) {
    await expect(on.ask(caller, data.getSequence, { id })).rejects.toMatchObject({ code: 'not_found' });
    await expect(on.ask(caller, data.getSequenceBinaryData, { sequenceId: id })).rejects.toMatchObject({
      code: 'not_found',
    });
  }
  await expect(on.ask(callers.stranger, data.listSequences, { organizationId: 'acme' })).rejects.toMatchObject({
    code: 'not_found',
  });
  const refused = (more: object, words: RegExp) => expect(make(on, more)).rejects.toThrow(words);
  await refused({ endTime: times.startTime }, /expected a start_time before the end_time/);
  await refused({ startTime: undefined }, /found no start_time/);
  await refused({ resources: [{ resourceName: '' }] }, /resources.resource_name/);
  const masked = { id, fieldMask: { paths: ['part_id'] } };
  await expect(on.ask(callers.owner, data.updateSequence, masked)).rejects.toThrow(/field_mask: expected resources/);
  expect((await on.ask(callers.owner, data.getSequence, { id })).sequence?.sequenceTags).toEqual([]);
});
