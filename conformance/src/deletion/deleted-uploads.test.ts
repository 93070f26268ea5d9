/** D13: uploads sent again after their deletion are stored again; uploads that were not deleted are never stored twice. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';

const dayMs = 24 * 3_600_000;
const components = ['boiler', 'pump'] as const;
/** Uploads of two components; their readings lie on up to three days. */
const uploads = components.flatMap((component) =>
  [[0, 1, 2], [1], [2, 2]].map((days, at) => ({
    component,
    readings: days.map((daysAgo, index) => ({ daysAgo, id: `${component}-${at}-${index}` })),
  })),
);

/** Gives the same steps for the same seed. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
}

async function signedIn(cloud: CloudProcess) {
  const link = connect({ baseUrl: cloud.url });
  const credentials = { type: 'api-key', payload: cloud.key };
  const { accessToken } = await link.client(AuthService).authenticate({ entity: cloud.keyId, credentials });
  return { link, options: { headers: { authorization: `Bearer ${accessToken}` } } };
}

test('D13 after random uploads, retries and deletions, exactly the data sent after its last deletion remains', async () => {
  await using cloud = await startCloud();
  const { link, options } = await signedIn(cloud);
  await using _link = link;
  const sync = link.client(DataSyncService);
  const data = link.client(DataService);
  const noonMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
  const there = new Set<string>();
  const send = async ({ component, readings }: (typeof uploads)[number]): Promise<void> => {
    await sync.dataCaptureUpload(
      {
        metadata: {
          partId: cloud.partId,
          componentType: 'rdk:component:sensor',
          componentName: component,
          methodName: 'Readings',
          type: DataType.TABULAR_SENSOR,
        },
        sensorContents: readings.map(({ daysAgo, id }) => {
          const time = timestampFromMs(noonMs - daysAgo * dayMs);
          return {
            metadata: { timeRequested: time, timeReceived: time },
            data: { case: 'struct', value: { id } },
          } as const;
        }),
      },
      options,
    );
    for (const { id } of readings) there.add(id);
  };
  const remove = async (component: string, olderThanDays: number): Promise<void> => {
    await data.deleteTabularData(
      {
        organizationId: cloud.organizationId,
        deleteOlderThanDays: olderThanDays,
        filter: { componentName: component },
      },
      options,
    );
    for (const each of uploads)
      for (const { daysAgo, id } of each.readings)
        if (each.component === component && (olderThanDays === 0 || daysAgo >= olderThanDays)) there.delete(id);
  };
  const found = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (const component of components) {
      const dataRequest = { filter: { componentName: component }, limit: 100n };
      const { data: rows } = await data.tabularDataByFilter({ dataRequest }, options);
      ids.push(...rows.map((row) => String(row.data?.['id'])));
    }
    return ids.toSorted();
  };
  const dice = createDice(20_261_122);
  for (let step = 0; step < 60; step++) {
    const component = components[dice(components.length)] ?? 'boiler';
    if (dice(3) === 0) await remove(component, dice(3));
    else await send(uploads[dice(uploads.length)] ?? { component, readings: [] });
    if (step % 5 === 4) expect(await found(), `step ${step}`).toEqual([...there].toSorted());
  }
  // A kill between a deletion and the recognition of uploads would show here: both must be one transaction, or be verified.
  await remove('boiler', 0);
  for (const upload of uploads) await Promise.all([send(upload), send(upload), send(upload)]);
  expect(await found()).toEqual(uploads.flatMap(({ readings }) => readings.map(({ id }) => id)).toSorted());
});
