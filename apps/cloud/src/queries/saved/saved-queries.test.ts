import { BsonDocument, type BsonValue, decodeBson, encodeBson, Int32 } from '@platform/query';
import { expect, test } from 'vitest';
import { openTabular, plain } from '../../tabular/testing/open-tabular.ts';
import { organizationDeleting } from '../organization-deleting.ts';
import { serveQueries } from '../testing/serve-queries.ts';

const organizationId = 'org-1';
const owner = { headers: { 'x-who': 'owner' } };
const operator = { headers: { 'x-who': 'operator' } };

function stage(operation: string, spec: BsonValue): Uint8Array {
  return encodeBson(BsonDocument.of({ [operation]: spec }));
}

const onlyCpu = stage('$match', BsonDocument.of({ component_name: 'cpu' }));
const count = stage('$count', 'n');

test('saved queries: stored, listed by name, changed and deleted, each with an audit entry', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const { client } = queries;
  const save = (name: string, mqlBinary: Uint8Array[]) =>
    client.createSavedQuery({ organizationId, name, mqlBinary }, owner);
  const { id } = await save(' Only CPU ', [onlyCpu, count]);
  await save('all', [count]);
  const { savedQuery } = await client.getSavedQuery({ id }, operator);
  expect(savedQuery).toMatchObject({ id, organizationId, name: 'Only CPU', mqlBinary: [onlyCpu, count] });
  expect(savedQuery?.createdOn).toEqual(savedQuery?.updatedAt);
  const names = async (limit = 0n) =>
    (await client.listSavedQueries({ organizationId, limit }, operator)).queries.map(({ name }) => name);
  expect(await names()).toEqual(['Only CPU', 'all']);
  expect(await names(1n)).toEqual(['Only CPU']);
  await client.updateSavedQuery({ id, name: 'cpu', mqlBinary: [count] }, owner);
  expect((await client.getSavedQuery({ id }, operator)).savedQuery).toMatchObject({ name: 'cpu', mqlBinary: [count] });
  await client.deleteSavedQuery({ id }, owner);
  expect(await names()).toEqual(['all']);
  await expect(client.getSavedQuery({ id }, operator)).rejects.toMatchObject({ code: 'not_found' });
  const entries = await store.db.selectFrom('audit_entries').select('action').execute();
  expect(entries.map(({ action }) => action)).toEqual([
    'DataService.CreateSavedQuery',
    'DataService.CreateSavedQuery',
    'DataService.UpdateSavedQuery',
    'DataService.DeleteSavedQuery',
  ]);
});

test('saved queries: invalid pipelines, missing and duplicate names, and too much data are refused', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const save = (name: string, mqlBinary: Uint8Array[]) =>
    queries.client.createSavedQuery({ organizationId, name, mqlBinary }, owner);
  const lookup = stage('$lookup', new BsonDocument());
  await expect(save('q', [onlyCpu, lookup])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/stage 1 .*\$lookup/),
  });
  await expect(save('q', [])).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(save('', [count])).rejects.toMatchObject({ code: 'invalid_argument' });
  const large = stage('$match', BsonDocument.of({ a: 'z'.repeat(260_000) }));
  await expect(save('q', [large, large])).rejects.toMatchObject({ code: 'invalid_argument' });
  const { id } = await save('q', [count]);
  await expect(save('q', [count])).rejects.toMatchObject({ code: 'already_exists' });
  await save('r', [count]);
  const rename = queries.client.updateSavedQuery({ id, name: 'r', mqlBinary: [count] }, owner);
  await expect(rename).rejects.toMatchObject({ code: 'already_exists' });
  const half = stage('$match', BsonDocument.of({ a: 'z'.repeat(200_000) }));
  for (let i = 0; i < 15; i++) await save(`large ${i}`, [half]);
  await expect(save('one more', [half])).rejects.toMatchObject({ code: 'resource_exhausted' });
});

test('operators of the organization read saved queries; owners change them', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const { client } = queries;
  const { id } = await client.createSavedQuery({ organizationId, name: 'q', mqlBinary: [count] }, owner);
  await expect(client.deleteSavedQuery({ id }, operator)).rejects.toMatchObject({ code: 'permission_denied' });
  const beneath = { headers: { 'x-who': 'owner loc-1' } };
  await expect(client.getSavedQuery({ id }, beneath)).rejects.toMatchObject({ code: 'not_found' });
  const runs = client.tabularDataByMQL({ organizationId, queryPrefixName: 'q' }, beneath);
  await expect(runs).rejects.toMatchObject({ code: 'not_found' });
});

test('query_prefix_name runs the saved query first, followed by the stages of the request', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const { client } = queries;
  store.append({ readings: [{ data: { i: 1 } }, { data: { i: 2 } }] });
  store.append({ metadata: { componentName: 'disk' }, readings: [{ data: { i: 3 } }] });
  await client.createSavedQuery({ organizationId, name: 'cpu', mqlBinary: [onlyCpu] }, owner);
  const ask = async (...mqlBinary: Uint8Array[]): Promise<unknown[]> => {
    const { rawData } = await client.tabularDataByMQL({ organizationId, mqlBinary, queryPrefixName: 'cpu' });
    return rawData.map((row) => plain(decodeBson(row)));
  };
  expect(await ask(count)).toEqual([{ n: 2 }]);
  expect(await ask()).toHaveLength(2);
  await expect(ask(stage('$limit', new Int32(-1)))).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/stage 1 .*saved query "cpu", which has 1/s),
  });
  const nobody = client.tabularDataByMQL({ organizationId, queryPrefixName: 'nobody' });
  await expect(nobody).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('nobody') });
});

test('saved queries and indexes are deleted with their organization, and with no other', async () => {
  await using store = await openTabular();
  for (const organization_id of ['org-1', 'org-2']) {
    const times = { created_ms: 1, updated_ms: 1 };
    const query = { id: `q ${organization_id}`, organization_id, name: 'q', pipeline: count, ...times };
    await store.db.insertInto('saved_queries').values(query).execute();
    const index = { organization_id, collection: 'hot_store', name: 'i', spec: count, created_ms: 1 };
    await store.db.insertInto('data_indexes').values(index).execute();
  }
  await store.db.transaction().execute((trx) => organizationDeleting(trx, 'org-1'));
  for (const table of ['saved_queries', 'data_indexes'] as const)
    expect(await store.db.selectFrom(table).select('organization_id').execute()).toEqual([
      { organization_id: 'org-2' },
    ]);
});
