/** Sends a large binary reading in parts. */
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { dataLoss } from '@platform/base';
import {
  DataSyncService,
  SensorDataSchema,
  type StreamingDataCaptureUploadRequest,
  StreamingDataCaptureUploadRequestSchema,
  type UploadMetadata,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Link } from '@platform/rpc/client';

const chunkBytes = 64 * 1024;

/** @param encoded a SensorData with bytes. */
export async function streamCapture(
  link: Pick<Link, 'client'>,
  uploadMetadata: UploadMetadata,
  encoded: Uint8Array,
  call: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const { metadata: sensorMetadata, data } = fromBinary(SensorDataSchema, encoded);
  if (data.case !== 'binary')
    throw dataLoss(`expected bytes in a reading of a binary file, found ${data.case ?? 'nothing'}`);
  const bytes = data.value;
  type Packet = NonNullable<MessageInitShape<typeof StreamingDataCaptureUploadRequestSchema>['uploadPacket']>;
  const packet = (uploadPacket: Packet): StreamingDataCaptureUploadRequest =>
    create(StreamingDataCaptureUploadRequestSchema, { uploadPacket });
  async function* packets(): AsyncGenerator<StreamingDataCaptureUploadRequest> {
    yield packet({ case: 'metadata', value: { uploadMetadata, ...(sensorMetadata && { sensorMetadata }) } });
    for (let at = 0; at < bytes.length; at += chunkBytes)
      yield packet({ case: 'data', value: bytes.subarray(at, at + chunkBytes) });
  }
  await link.client(DataSyncService).streamingDataCaptureUpload(packets(), call);
}
