/** The unmodified public TypeScript client against the real cloud, over plain HTTP, as a user writes it. */
import { randomUUID } from 'node:crypto';
import type { ViamClient } from '@viamrobotics/sdk';
import { Binary, BSONRegExp, Decimal128, Int32, Long, MaxKey, MinKey, ObjectId, serialize, Timestamp } from 'bson';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { signInPublicClient } from './public-client.ts';

let cloud: CloudProcess;
let client: ViamClient;

beforeAll(async () => {
  cloud = await startCloud();
  client = await signIn(cloud.key);
});
afterAll(async () => {
  await cloud[Symbol.asyncDispose]();
});

function signIn(key: string): Promise<ViamClient> {
  return signInPublicClient({ url: cloud.url, keyId: cloud.keyId, key });
}

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** Uploads one reading a second with increasing `value`. @returns the file id in the answer. */
function upload(component: string, values: readonly number[]): Promise<string> {
  const rows = values.map((value) => ({
    readings: { value, label: `n${value}`, nested: { deep: [1, 'two', null, true] } },
  }));
  const times = values.map((_value, index): [Date, Date] => [
    new Date(start + index * 1000),
    new Date(start + index * 1000 + 5),
  ]);
  return client.dataClient.tabularDataCaptureUpload(
    rows,
    cloud.partId,
    'rdk:component:sensor',
    component,
    'Readings',
    times,
    ['blue'],
  );
}

describe('the public TypeScript client', () => {
  test('signs in with the API key and lists the organization', async () => {
    const organizations = await client.appClient.listOrganizations();
    expect(organizations).toMatchObject([{ id: cloud.organizationId }]);
  });

  test('gets PERMISSION_DENIED for a wrong key', async () => {
    await expect(signIn('wrong')).rejects.toMatchObject({ code: 7 });
  });

  test('D2 D25 uploads readings and reads them back by MQL at once, in its own spelling', async () => {
    const component = `mql-${randomUUID()}`;
    expect(await upload(component, [1, 2.5, 3])).not.toBe('');
    const rows = await client.dataClient.tabularDataByMQL(cloud.organizationId, [
      {
        $match: {
          component_name: component,
          component_type: 'rdk:component:sensor',
          time_received: { $gte: new Date(start) },
        },
      },
      { $sort: { time_received: 1 } },
    ]);
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatchObject({
      organization_id: cloud.organizationId,
      part_id: cloud.partId,
      component_type: 'rdk:component:sensor',
      component_name: component,
      method_name: 'Readings',
      capture_day: '2026-01-02',
      time_requested: new Date(start + 1000),
      time_received: new Date(start + 1005),
      tags: ['blue'],
      data: { readings: { value: 2.5, label: 'n2.5', nested: { deep: [1, 'two', null, true] } } },
    });
    expect(rows[1]).not.toHaveProperty('_id');
  });

  test('aggregates by MQL', async () => {
    const component = `group-${randomUUID()}`;
    await upload(component, [1, 2, 3, 4]);
    const rows = await client.dataClient.tabularDataByMQL(cloud.organizationId, [
      { $match: { component_name: component, 'data.readings.value': { $gt: 1 } } },
      { $group: { _id: '$component_name', sum: { $sum: '$data.readings.value' }, rows: { $sum: 1 } } },
    ]);
    expect(rows).toEqual([{ _id: component, sum: 9, rows: 3 }]);
  });

  test('reads them back by SQL', async () => {
    const component = `sql-${randomUUID()}`;
    await upload(component, [3, 1, 2]);
    const rows = await client.dataClient.tabularDataBySQL(
      cloud.organizationId,
      `SELECT component_name, data FROM readings WHERE component_name = '${component}' ORDER BY time_received LIMIT 2`,
    );
    expect(rows).toMatchObject([
      { component_name: component, data: { readings: { value: 3 } } },
      { component_name: component, data: { readings: { value: 1 } } },
    ]);
  });

  test('D13 a repeated upload is recognised as the same upload', async () => {
    const component = `again-${randomUUID()}`;
    const first = await upload(component, [1, 2]);
    expect(await upload(component, [1, 2])).toBe(first);
    const rows = await client.dataClient.tabularDataByMQL(cloud.organizationId, [
      { $match: { component_name: component } },
      { $count: 'rows' },
    ]);
    expect(rows).toEqual([{ rows: 2 }]);
  });

  test('uploads a binary reading', async () => {
    const times: [Date, Date] = [new Date(start), new Date(start + 5)];
    const image = new TextEncoder().encode(`image ${randomUUID()}`);
    const camera = ['rdk:component:camera', 'camera', 'ReadImage'] as const;
    const upload = client.dataClient.binaryDataCaptureUpload(image, cloud.partId, ...camera, '.jpg', times, ['red']);
    expect(await upload).not.toBe('');
  });

  test('D7 no row is lost to a BSON type that the client does not know', async () => {
    const component = `types-${randomUUID()}`;
    await upload(component, [1]);
    const literal = (value: unknown): object => ({ $literal: value });
    const pipeline = [
      { $match: { component_name: component } },
      {
        $project: {
          _id: 0,
          double: literal(1.5),
          text: literal('text'),
          int: literal(new Int32(7)),
          long: literal(Long.fromNumber(2 ** 40)),
          date: literal(new Date(start)),
          flag: literal(true),
          nothing: literal(null),
          list: literal([1, 'two']),
          exact: literal(Decimal128.fromString('2.5')),
          inexact: literal(Decimal128.fromString('0.1234567890123456789012345678')),
          objectId: literal(new ObjectId('0123456789abcdef01234567')),
          binary: literal(new Binary(Buffer.from([1, 2, 3]))),
          timestamp: literal(new Timestamp({ t: 5, i: 6 })),
          regex: literal(new BSONRegExp('a+', 'i')),
          min: literal(new MinKey()),
          max: literal(new MaxKey()),
        },
      },
    ].map((stage) => serialize(stage));
    const rows = await client.dataClient.tabularDataByMQL(cloud.organizationId, pipeline);
    expect(rows).toMatchObject([
      {
        double: 1.5,
        text: 'text',
        int: 7,
        long: 2 ** 40,
        date: new Date(start),
        flag: true,
        nothing: null,
        list: [1, 'two'],
        exact: 2.5,
        inexact: '0.1234567890123456789012345678',
      },
    ]);
    for (const name of ['objectId', 'binary', 'timestamp', 'regex', 'min', 'max']) expect(rows[0]).toHaveProperty(name);
  });

  test('D4 an invalid pipeline or statement is answered with what was found', async () => {
    const stage = client.dataClient.tabularDataByMQL(cloud.organizationId, [{ $mtch: {} }]);
    await expect(stage).rejects.toMatchObject({ code: 3, rawMessage: expect.stringContaining('$mtch') });
    const statement = client.dataClient.tabularDataBySQL(cloud.organizationId, 'SELEKT 1 FROM readings');
    await expect(statement).rejects.toMatchObject({ code: 3, rawMessage: expect.stringContaining('SELEKT') });
  });

  test('D26 an organization that is not the caller’s is invisible', async () => {
    const query = client.dataClient.tabularDataByMQL(randomUUID(), [{ $limit: 1 }]);
    await expect(query).rejects.toMatchObject({ code: expect.toBeOneOf([5, 7]) });
  });
});
