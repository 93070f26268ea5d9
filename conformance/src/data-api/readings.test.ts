/** The tabular half of DataService through the unmodified public package, or through @grpc/grpc-js where the package has no call. */
import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { dataApi, type ViamClient } from '@viamrobotics/sdk';
import { serialize } from 'bson';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn } from '../access/people.ts';
import { Peer } from '../clients/grpc-peer.ts';
import { signInPublicClient } from '../clients/public-client.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';

const service = 'platform.app.data.v1.DataService';
const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const sensor = 'rdk:component:sensor';

let cloud: CloudProcess;
let client: ViamClient;
let peer: Peer;

beforeAll(async () => {
  cloud = await startCloud();
  client = await signInPublicClient(cloud);
  peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
});
afterAll(async () => {
  peer[Symbol.dispose]();
  await cloud[Symbol.asyncDispose]();
});

/** The fields that the tests read from messages in lists; TypeScript does not find the package's own types. */
interface Listed {
  readonly data: unknown;
  readonly payload: unknown;
  readonly timeRequested: Date;
  readonly timeCaptured: Date;
  readonly indexName: string;
  readonly createdBy: number;
}

/** Operations below without a call in the package. */
const withoutCall = ['CreateSavedQuery', 'UpdateSavedQuery', 'GetSavedQuery', 'DeleteSavedQuery', 'ListSavedQueries'];

/** One reading a second with increasing `value`. */
async function upload(component: string, values: readonly number[], tags: string[] = []): Promise<void> {
  const times = values.map((_value, index): [Date, Date] => [at(index), new Date(at(index).getTime() + 5)]);
  const rows = values.map((value) => ({ readings: { value, nested: [1, { a: null }] } }));
  await client.dataClient.tabularDataCaptureUpload(rows, cloud.partId, sensor, component, 'Readings', times, tags);
}

function at(index: number): Date {
  return new Date(start + index * 1_000);
}

const filterOf = (fields: object): dataApi.Filter => new dataApi.Filter(fields);

test('TabularDataByFilter: a page with its metadata, in the client’s own spelling, and the following pages', async () => {
  const component = `filter-${randomUUID()}`;
  await upload(component, [1, 2, 3, 4, 5], ['blue']);
  const filter = filterOf({ componentName: component, componentType: sensor, organizationIds: [cloud.organizationId] });
  const first = await client.dataClient.tabularDataByFilter(filter, 3, dataApi.Order.ASCENDING);
  expect(first.count).toBe(3n);
  expect(first.data.map(({ data }: Listed) => data)).toEqual(
    [1, 2, 3].map((value) => ({ readings: { value, nested: [1, { a: null }] } })),
  );
  expect(first.data[2]).toMatchObject({
    timeRequested: at(2),
    metadata: {
      organizationId: cloud.organizationId,
      locationId: cloud.locationId,
      robotId: cloud.machineId,
      partId: cloud.partId,
      componentType: sensor,
      componentName: component,
      methodName: 'Readings',
      tags: ['blue'],
    },
  });
  expect(first.data[2]?.metadata?.robotName).not.toBe('');
  expect(first.data[2]?.metadata?.partName).not.toBe('');
  const rest: unknown[] = [];
  for (let { last } = first; ; ) {
    const page = await client.dataClient.tabularDataByFilter(filter, 3, dataApi.Order.ASCENDING, last);
    if (page.data.length === 0) break;
    rest.push(...page.data.map(({ timeRequested }: Listed) => timeRequested));
    ({ last } = page);
  }
  expect(rest).toEqual([at(3), at(4)]);
  const counted = await client.dataClient.tabularDataByFilter(filter, undefined, undefined, '', true);
  expect(counted).toMatchObject({ count: 5n, data: [] });
  const none = filterOf({ componentName: component, tagsFilter: { tags: ['red'] } });
  expect((await client.dataClient.tabularDataByFilter(none)).data).toEqual([]);
});

test('ExportTabularData: every reading with time, parameters and payload; an interval restricts it', async () => {
  const component = `export-${randomUUID()}`;
  await upload(component, [1, 2, 3], ['blue']);
  const rows = await client.dataClient.exportTabularData(cloud.partId, component, sensor, 'Readings');
  expect(rows.map(({ payload }: Listed) => payload)).toEqual(
    [1, 2, 3].map((value) => ({ readings: { value, nested: [1, { a: null }] } })),
  );
  expect(rows[0]).toMatchObject({
    partId: cloud.partId,
    resourceName: component,
    resourceSubtype: sensor,
    methodName: 'Readings',
    timeCaptured: new Date(start + 5),
    organizationId: cloud.organizationId,
    locationId: cloud.locationId,
    robotId: cloud.machineId,
    methodParameters: {},
    tags: ['blue'],
  });
  const some = await client.dataClient.exportTabularData(cloud.partId, component, sensor, 'Readings', at(1), at(2));
  expect(some.map(({ timeCaptured }: Listed) => timeCaptured)).toEqual([new Date(start + 1_005)]);
  const foreign = client.dataClient.exportTabularData(randomUUID(), component, sensor, 'Readings');
  await expect(foreign).rejects.toMatchObject({ code: 5 });
});

test('GetLatestTabularData: the newest reading, or null', async () => {
  const component = `latest-${randomUUID()}`;
  const latest = () => client.dataClient.getLatestTabularData(cloud.partId, component, sensor, 'Readings');
  expect(await latest()).toBeNull();
  await upload(component, [1, 2, 3]);
  const [captured, synced, payload] = (await latest()) ?? [];
  expect(captured).toEqual(new Date(start + 2_005));
  expect(Number(synced)).toBeGreaterThan(start);
  expect(payload).toEqual({ readings: { value: 3, nested: [1, { a: null }] } });
});

test('saved queries: created, read, run first, changed, listed and deleted', async () => {
  const component = `saved-${randomUUID()}`;
  await upload(component, [1, 2, 3]);
  const organization_id = cloud.organizationId;
  const match = serialize({ $match: { component_name: component } });
  const ask = (method: string, request: object) => peer.call(service, method, request);
  const { id } = await ask('CreateSavedQuery', { organization_id, name: component, mql_binary: [match] });
  expect(await ask('GetSavedQuery', { id })).toMatchObject({
    saved_query: { id, organization_id, name: component, mql_binary: [Buffer.from(match)] },
  });
  const count = [{ $count: 'rows' }];
  const run = () => client.dataClient.tabularDataByMQL(organization_id, count, undefined, undefined, component);
  expect(await run()).toEqual([{ rows: 3 }]);
  const narrower = serialize({ $match: { component_name: component, 'data.readings.value': { $gt: 1 } } });
  await ask('UpdateSavedQuery', { id, name: component, mql_binary: [narrower] });
  expect(await run()).toEqual([{ rows: 2 }]);
  const { queries } = (await ask('ListSavedQueries', { organization_id })) as { queries: { name: string }[] };
  expect(queries.map(({ name }) => name)).toContain(component);
  await ask('DeleteSavedQuery', { id });
  await expect(run()).rejects.toMatchObject({ code: 5 });
  await expect(ask('GetSavedQuery', { id })).rejects.toMatchObject({ code: 5 });
});

test('indexes: created, listed beside those of the store, deleted', async () => {
  const hotStore = dataApi.IndexableCollection.HOT_STORE as never;
  const { dataClient } = client;
  const { organizationId } = cloud;
  await dataClient.createIndex(organizationId, hotStore, {
    keys: { 'data.readings.value': 1 },
    options: { name: 'mine' },
  });
  const indexes = await dataClient.listIndexes(organizationId, hotStore);
  const mine = indexes.find(({ indexName }: Listed) => indexName === 'mine');
  expect(mine?.createdBy).toBe(dataApi.IndexCreator.CUSTOMER);
  expect(JSON.parse(new TextDecoder().decode(mine?.indexSpec[0]))).toEqual({
    keys: { 'data.readings.value': 1 },
    options: { name: 'mine' },
  });
  expect(indexes.filter(({ createdBy }: Listed) => createdBy === dataApi.IndexCreator.VIAM).length).toBeGreaterThan(0);
  await dataClient.deleteIndex(organizationId, hotStore, 'mine');
  await expect(dataClient.deleteIndex(organizationId, hotStore, 'mine')).rejects.toMatchObject({ code: 5 });
});

test('DeleteTabularData: a dry run by header deletes nothing; then a filter, then all', async () => {
  const component = `delete-${randomUUID()}`;
  await upload(component, [1, 2, 3]);
  await upload(`${component}-other`, [1]);
  const rows = async () =>
    (await client.dataClient.tabularDataByFilter(filterOf({ componentName: component }), 1, undefined, '', true)).count;
  const token = await signIn(cloud.url, { entity: cloud.keyId, type: 'api-key', payload: cloud.key });
  const dryRun = await fetch(`${cloud.url}/viam.app.data.v1.DataService/DeleteTabularData`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'platform-dry-run': 'true',
    },
    body: JSON.stringify({ organizationId: cloud.organizationId, filter: { componentName: component } }),
  });
  expect(dryRun.headers.get('platform-dry-run')).toBe('true');
  expect(await dryRun.json()).toEqual({ deletedCount: '3' });
  expect(await rows()).toBe(3n);
  const filter = { component_name: component, component_type: sensor };
  const request = { organization_id: cloud.organizationId, delete_older_than_days: 1, filter };
  expect(await peer.call(service, 'DeleteTabularData', request)).toEqual({ deleted_count: 3 });
  expect(await rows()).toBe(0n);
  expect(await client.dataClient.deleteTabularData(cloud.organizationId, 0)).toBeGreaterThan(0n);
  const everything = await client.dataClient.tabularDataByMQL(cloud.organizationId, [{ $limit: 1 }]);
  expect(everything.filter((row: object) => Reflect.get(row, 'capture_day') === '2026-01-02')).toEqual([]);
});

test('the public package has no call for the operations listed as missing', () => {
  const has = (operation: string) => operation.charAt(0).toLowerCase() + operation.slice(1) in client.dataClient;
  expect(withoutCall.filter(has)).toEqual([]);
});

test.each(['ConfigureDatabaseUser', 'GetDatabaseConnection'])(
  '%s answers UNIMPLEMENTED with a message',
  async (method) => {
    const { dataClient } = client;
    const call =
      method === 'ConfigureDatabaseUser'
        ? dataClient.configureDatabaseUser(cloud.organizationId, 'some password')
        : dataClient.getDatabaseConnection(cloud.organizationId);
    await expect(call).rejects.toMatchObject({
      code: 12,
      rawMessage: expect.stringMatching(new RegExp(`${method}.* \\w+ \\w+`)),
    });
  },
);

test('D48 a request with one element more than its method takes is refused by the limit of the method, not by the default', async () => {
  const call = (elements: number): Promise<unknown> =>
    peer
      .call(service, 'BinaryDataByIDs', { binary_data_ids: Array(elements).fill('') })
      .catch((caught: unknown) => caught);
  expect(await call(20_001)).toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    details: expect.stringMatching(
      /DataService\/BinaryDataByIDs: expected at most 20000 fields and elements in a message, found more in "binary_data_ids"/,
    ),
  });
  // Then the handler decides.
  expect(await call(20_000)).toMatchObject({ code: status.INVALID_ARGUMENT });
});
