import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../../testing/fake-cloud.ts';
import { createTestHome, startTestServer, until } from '../../testing/start-test-server.ts';

/** Larger readings are streamed. */
const streamedBytes = 1_500_000;

test('D15 uploads of every kind ask the cloud to compare checksums, so that it refuses what was damaged on the way', async () => {
  await using cloud = await startFakeCloud({});
  await using home = await createTestHome(cloud.url);
  const [files, picture] = [join(home.path, 'files'), join(home.path, 'large.jpg')];
  await mkdir(files);
  await writeFile(join(files, 'a.txt'), 'a file');
  await utimes(join(files, 'a.txt'), 1, 1);
  await writeFile(picture, Buffer.alloc(streamedBytes, 1));
  const capturing = (method: string) => ({
    service_configs: [{ type: 'data_manager', attributes: { capture_methods: [{ method, capture_frequency_hz: 2 }] } }],
  });
  cloud.document = {
    components: [
      { name: 'counter', api: 'core:component:sensor', model: 'fake', ...capturing('Readings') },
      {
        ...{ name: 'camera', api: 'core:component:camera', model: 'image_file' },
        ...{ attributes: { path: picture }, ...capturing('GetImages') },
      },
    ],
    services: [
      {
        ...{ name: 'dm', api: 'core:service:data_manager', model: 'builtin' },
        attributes: { sync_interval_mins: 0.002, additional_sync_paths: [files], file_last_modified_millis: 0 },
      },
    ],
  };
  await using _server = await startTestServer(home);
  await until('an upload of each kind', () => cloud.checksums.size === 3);
  expect(Object.fromEntries(cloud.checksums)).toEqual({
    ...{ DataCaptureUpload: 'crc32', StreamingDataCaptureUpload: 'crc32', FileUpload: 'crc32' },
  });
});
