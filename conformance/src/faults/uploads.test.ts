/** D48: what large uploads cost everybody else, from outside: a canary in its own process asks a cloud in its own process. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType, type SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { query } from '../crash/cloud-under-load.ts';
import { startCloud } from '../start-cloud.ts';
import { cloudCalls, startCanary } from './canary.ts';

const now = timestampFromMs(Date.now());
const times = { timeRequested: now, timeReceived: now };
const ofKeys = (count: number): MessageInitShape<typeof SensorDataSchema> => ({
  metadata: times,
  data: {
    case: 'struct',
    value: Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), true])),
  },
});

/** Each upload with the number of its readings that can be stored. */
const shapes: Readonly<Record<string, { contents: MessageInitShape<typeof SensorDataSchema>[]; stored: number }>> = {
  'a million empty readings': { contents: [...new Array(1_000_000).fill({}), ofKeys(1)], stored: 1 },
  'half a million readings': { contents: new Array(500_000).fill(ofKeys(1)), stored: 500_000 },
  'a reading of 300,000 short keys': { contents: [ofKeys(300_000)], stored: 1 },
};

test('D48 large uploads of every shape are stored while others are answered', { timeout: 300_000 }, async () => {
  await using cloud = await startCloud();
  const { url, partId, partSecret, keyId, key } = cloud;
  await using canary = await startCanary({ url, calls: await cloudCalls(cloud), everyMs: 50 });
  await using machine = connect({
    baseUrl: url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  await using owner = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  let expected = 0;
  for (const [shape, { contents, stored }] of Object.entries(shapes)) {
    await canary.report();
    const startedMs = performance.now();
    const metadata = { partId, componentType: 'core:component:sensor', componentName: 'large', methodName: 'Readings' };
    await machine
      .client(DataSyncService)
      .dataCaptureUpload(
        { metadata: { ...metadata, type: DataType.TABULAR_SENSOR }, sensorContents: contents },
        { timeoutMs: 120_000 },
      );
    expected += stored;
    const rows = await query(owner, cloud.organizationId, [{ $match: { component_name: 'large' } }, { $count: 'n' }]);
    expect([shape, rows]).toEqual([shape, [{ n: expected }]]);
    const { longestMs, failures, answered } = await canary.report();
    expect([shape, failures]).toEqual([shape, {}]);
    expect(answered).toBeGreaterThan(0);
    // Relative, because this computer is busy with other tests: without turns it was two thirds.
    expect(longestMs).toBeLessThan((performance.now() - startedMs) / 2);
  }
});
