/** A picture of a camera of the demo's machine, as its machine-server would send it. */
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import type { CloudProcess } from '../start-cloud.ts';

/** One dark pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export async function uploadPicture({ url, keyId, key, partId }: CloudProcess): Promise<void> {
  await using link = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const now = timestampNow();
  await link.client(DataSyncService).dataCaptureUpload({
    metadata: {
      ...{ partId, componentType: 'core:component:camera', componentName: 'gate', methodName: 'GetImages' },
      ...{ type: DataType.BINARY_SENSOR, fileExtension: '.png', mimeType: 'image/png', tags: ['night'] },
    },
    sensorContents: [
      {
        metadata: { timeRequested: now, timeReceived: now },
        data: { case: 'binary', value: Buffer.from(png, 'base64') },
      },
    ],
  });
}
