/** Retention, the hot store and deletion with the part, as seen by the unmodified public TypeScript client on the real cloud. */
import { openCloud } from '@platform/sdk/cloud';
import type { ViamClient } from '@viamrobotics/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInPublicClient } from '../clients/public-client.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';

let cloud: CloudProcess;
let client: ViamClient;

beforeAll(async () => {
  cloud = await startCloud();
  client = await signInPublicClient(cloud);
});
afterAll(async () => {
  await cloud[Symbol.asyncDispose]();
});

const dayMs = 86_400_000;

/** Uploads one reading for each of the given days, whose value is its age in days. */
function upload(partId: string, component: string, agesInDays: readonly number[]): Promise<string> {
  return client.dataClient.tabularDataCaptureUpload(
    agesInDays.map((age) => ({ readings: { age } })),
    partId,
    'rdk:component:sensor',
    component,
    'Readings',
    agesInDays.map((age): [Date, Date] => [new Date(Date.now() - age * dayMs), new Date(Date.now() - age * dayMs)]),
  );
}

/** Ages of the readings of a part that a query finds. */
async function ages(partId: string, component: string, hot = false): Promise<number[]> {
  const stages = [
    { $match: { part_id: partId, component_name: component } },
    { $project: { _id: 0, age: '$data.readings.age' } },
    { $sort: { age: 1 } },
  ];
  const rows = await client.dataClient.tabularDataByMQL(cloud.organizationId, stages, hot);
  return rows.map((row: unknown) => Number(Reflect.get(Object(row), 'age')));
}

async function save(partId: string, configuration: object): Promise<void> {
  await using owner = openCloud({ url: cloud.url, keyId: cloud.keyId, key: cloud.key });
  const { part } = await owner.app.getRobotPart({ id: partId });
  const robotConfigJson = JSON.stringify(configuration);
  await owner.app.updateRobotPart({ id: partId, name: part?.name ?? '', robotConfigJson });
}

const sensor = (name: string, policy: object, method: object = {}) => ({
  ...{ name, api: 'rdk:component:sensor', model: 'rdk:builtin:fake' },
  service_configs: [
    {
      type: 'data_manager',
      attributes: {
        ...policy,
        capture_methods: [{ method: 'Readings', capture_frequency_hz: 1, additional_params: {}, ...method }],
      },
    },
  ],
});

test('D24 a saved retention applies to the next query, the shorter of part and resource; the hot store has its own window', async () => {
  const { partId } = cloud;
  for (const component of ['short', 'long', 'recent']) await upload(partId, component, [0, 1, 2, 3, 4, 5]);
  expect(await ages(partId, 'short')).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await ages(partId, 'recent', true)).toEqual([]);
  await save(partId, {
    data_retention_policy: { days: 5 },
    components: [
      sensor('short', { retention_policy: { days: 2 } }),
      sensor('long', { retention_policy: { days: 90 } }),
      sensor('recent', { retention_policy: { days: 1 } }, { recent_data_store: { stored_hours: 84 } }),
    ],
  });
  expect(await ages(partId, 'short')).toEqual([0, 1]);
  expect(await ages(partId, 'long')).toEqual([0, 1, 2, 3, 4]);
  expect(await ages(partId, 'recent')).toEqual([0]);
  expect(await ages(partId, 'recent', true)).toEqual([0, 1, 2, 3]);
  expect(await ages(partId, 'short', true)).toEqual([]);
  await save(partId, { data_retention_policy: { days: 'five' } });
  expect(await ages(partId, 'short')).toEqual([0, 1, 2, 3, 4, 5]);
});

test('I10 the data of a deleted machine is deleted with it only if its data manager says so', async () => {
  const manager = (deletes: boolean) => ({
    ...{ name: 'data', api: 'rdk:service:data_manager', model: 'rdk:builtin:builtin' },
    attributes: { delete_data_on_part_deletion: deletes },
  });
  for (const deletes of [true, false]) {
    const machineId = await client.appClient.newRobot(cloud.locationId, `machine-${deletes}`);
    const [part] = await client.appClient.getRobotParts(machineId);
    const partId = part?.id ?? '';
    await save(partId, { services: [manager(deletes)] });
    await upload(partId, 'cpu', [0, 1]);
    expect(await ages(partId, 'cpu')).toEqual([0, 1]);
    await client.appClient.deleteRobot(machineId);
    expect(await ages(partId, 'cpu')).toEqual(deletes ? [] : [0, 1]);
  }
});
