import { systemClock } from '@platform/base';
import { IndexableCollection, IndexCreator } from '@platform/proto/platform/app/data/v1/data';
import { BsonDocument, encodeBson, Int32 } from '@platform/query';
import { expect, test } from 'vitest';
import { openTabular } from '../../tabular/testing/open-tabular.ts';
import { serveQueries } from '../testing/serve-queries.ts';

const collection = { organizationId: 'org-1', collectionType: IndexableCollection.HOT_STORE };
const owner = { headers: { 'x-who': 'owner' } };

function spec(keys: Record<string, number | string>, options?: Record<string, string | boolean>): Uint8Array {
  return encodeBson(
    BsonDocument.of({ keys: BsonDocument.of(keys), ...(options && { options: BsonDocument.of(options) }) }),
  );
}

test('indexes: built-in ones are listed as such; user-defined ones are stored, listed and deleted', async () => {
  await using store = await openTabular();
  let nowMs = 0;
  await using queries = await serveQueries(store, { clock: { ...systemClock, now: () => ++nowMs } });
  const { client } = queries;
  const names = async (createdBy: IndexCreator) =>
    (await client.listIndexes(collection)).indexes
      .filter((index) => index.createdBy === createdBy)
      .map(({ indexName }) => indexName);
  const own = await names(IndexCreator.VIAM);
  expect(own).toContain('time_received_1');
  expect(own[0]).toMatch(/^organization_id_1_.*_capture_day_1$/);
  await client.createIndex({ ...collection, indexSpec: [spec({ 'data.x': 1, part_id: -1 })] }, owner);
  await client.createIndex(
    { ...collection, indexSpec: [spec({ a: '2dsphere' }, { name: 'mine', sparse: true })] },
    owner,
  );
  const json = new TextEncoder().encode(JSON.stringify({ field: 1 }));
  await client.createIndex({ ...collection, indexSpec: [json] }, owner);
  const twoDocuments = [BsonDocument.of({ b: new Int32(-1) }), BsonDocument.of({ unique: true })].map((document) =>
    encodeBson(document),
  );
  await client.createIndex({ ...collection, indexSpec: twoDocuments }, owner);
  expect(await names(IndexCreator.CUSTOMER)).toEqual(['data.x_1_part_id_-1', 'mine', 'field_1', 'b_-1']);
  const { indexes } = await client.listIndexes(collection);
  const mine = indexes.find(({ indexName }) => indexName === 'mine')?.indexSpec[0] ?? new Uint8Array();
  expect(new TextDecoder().decode(mine)).toBe('{"keys":{"a":"2dsphere"},"options":{"name":"mine","sparse":true}}');
  await client.deleteIndex({ ...collection, indexName: 'mine' }, owner);
  expect(await names(IndexCreator.CUSTOMER)).toEqual(['data.x_1_part_id_-1', 'field_1', 'b_-1']);
  const actions = await store.db.selectFrom('audit_entries').select('action').execute();
  expect(actions.map(({ action }) => action.replace('DataService.', ''))).toEqual([
    ...Array.from({ length: 4 }, () => 'CreateIndex'),
    'DeleteIndex',
  ]);
});

test('indexes: duplicates, unknown, built-in and invalid ones are refused', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const { client } = queries;
  const create = (...indexSpec: Uint8Array[]) => client.createIndex({ ...collection, indexSpec }, owner);
  await create(spec({ a: 1 }));
  await expect(create(spec({ a: 1 }))).rejects.toMatchObject({ code: 'already_exists' });
  await expect(create(spec({ time_received: 1 }))).rejects.toMatchObject({ code: 'already_exists' });
  const text = (json: string) => new TextEncoder().encode(json);
  for (const wrong of [
    [],
    [text('{')],
    [text('[]')],
    [spec({})],
    [spec({ a: 2 })],
    [spec({ a: 'x' })],
    [text('{"a":null}')],
  ])
    await expect(create(...wrong), String(wrong[0])).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('index_spec'),
    });
  const remove = (indexName: string) => client.deleteIndex({ ...collection, indexName }, owner);
  await expect(remove('b_1')).rejects.toMatchObject({ code: 'not_found' });
  await expect(remove('time_received_1')).rejects.toMatchObject({ code: 'failed_precondition' });
  const sink = { organizationId: 'org-1', collectionType: IndexableCollection.PIPELINE_SINK };
  await expect(client.listIndexes(sink)).rejects.toMatchObject({ code: 'unimplemented' });
  await expect(client.listIndexes({ organizationId: 'org-1' })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(client.createIndex({ ...collection, indexSpec: [spec({ c: 1 })] })).rejects.toMatchObject({
    code: 'permission_denied',
  });
});
