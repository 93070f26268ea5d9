import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { maxReadingLevels } from '@platform/base';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { openTestLog } from '../ingest/testing/open-log.ts';
import { testEntry } from '../ingest/testing/test-entry.ts';
import { encodeUpload } from '../reading-codec/encode-upload.ts';
import { latestReadings } from './latest-readings.ts';

test('the status page shows the last reading of each upload, newest first, at any nesting depth that can be stored', async () => {
  await using test = await openTestLog();
  const nested = (levels: number): JsonObject => (levels === 1 ? { i: 7 } : { a: nested(levels - 1) });
  const metadata = { timeReceived: timestampFromMs(1_700_000_000_456) };
  const [first, deep] = [{ i: 1 }, nested(maxReadingLevels)].map((value) =>
    toBinary(SensorDataSchema, create(SensorDataSchema, { metadata, data: { case: 'struct', value } })),
  );
  const rest = { metadata: { componentName: 'cpu', methodName: 'Readings' }, place: { partName: 'main' } };
  const blob = { path: 'p', sizeBytes: 12n };
  const uploads = [encodeUpload(rest, [first, deep] as Uint8Array[]), encodeUpload({ ...rest, blob }, [])];
  for (const [seq, batch] of uploads.entries()) await test.log.append(testEntry(seq, undefined, { batch }));

  expect(await latestReadings(test.log, 8, () => true)).toEqual([
    { timeMs: null, part: 'main', component: 'cpu', method: 'Readings', data: { bytes: 12 } },
    {
      ...{ timeMs: 1_700_000_000_456, part: 'main', component: 'cpu', method: 'Readings' },
      data: JSON.parse(JSON.stringify(nested(maxReadingLevels))),
    },
  ]);
});

test('D48 of a large reading the status page shows only the size', async () => {
  await using test = await openTestLog();
  const value = { text: 'x'.repeat(70_000) };
  const reading = toBinary(SensorDataSchema, create(SensorDataSchema, { data: { case: 'struct', value } }));
  await test.log.append(testEntry(1, undefined, { batch: encodeUpload({}, [reading]) }));
  expect(await latestReadings(test.log, 8, () => true)).toMatchObject([{ data: { bytes: 70_018 } }]);
});

test('the readings of the parts that the caller sees are found even behind those of others', async () => {
  await using test = await openTestLog();
  for (let seq = 0; seq < 30; seq++) {
    const place = { partName: seq < 5 ? `mine ${seq}` : 'theirs' };
    const batch = encodeUpload({ metadata: { componentName: 'cpu', methodName: 'Readings' }, place }, []);
    await test.log.append(testEntry(seq, undefined, { partId: seq < 5 ? 'mine' : 'theirs', batch }));
  }
  const shown = await latestReadings(test.log, 4, (partId) => partId === 'mine');
  expect(shown).toMatchObject(['mine 4', 'mine 3', 'mine 2', 'mine 1'].map((part) => ({ part })));
  expect(await latestReadings(test.log, 4, () => false)).toEqual([]);
});
