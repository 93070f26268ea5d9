/** The upload calls of a link, with readings left encoded. */
import { create, type DescService } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import {
  DataSyncService,
  type FileUploadRequest,
  FileUploadRequestSchema,
  RawDataCaptureUploadRequestSchema,
  type UploadMetadata,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Link } from '@platform/rpc/client';

/** What sync needs of the cloud. Throws PlatformError with the code of the wire. */
export interface Uploads {
  /** One file of readings, each an encoded SensorData, in one call. Returns once the cloud has committed it (I2). */
  readings(metadata: Uint8Array, readings: readonly Uint8Array[], signal: AbortSignal): Promise<void>;
  /** An arbitrary file. */
  file(metadata: UploadMetadata, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
}

/** DataSyncService with the twin request whose parts stay encoded: the same bytes on the wire. */
const upload = { ...DataSyncService.method.dataCaptureUpload, input: RawDataCaptureUploadRequestSchema };
const rawService = {
  ...DataSyncService,
  methods: [upload, DataSyncService.method.fileUpload],
  method: { dataCaptureUpload: upload, fileUpload: DataSyncService.method.fileUpload },
} as const satisfies DescService;

const uploadTimeoutMs = 30_000;
const fileTimeoutMs = 3_600_000;

/** @param linked the current link; undefined while there is none. */
export function createUploads(linked: () => Link | undefined): Uploads {
  const link = (): Link => {
    const current = linked();
    if (current === undefined) throw new PlatformError('unavailable', 'there is no connection to a cloud');
    return current;
  };
  return {
    async readings(metadata, readings, signal) {
      const request = { metadata, sensorContents: [...readings] };
      await link().client(rawService).dataCaptureUpload(request, { signal, timeoutMs: uploadTimeoutMs });
    },
    async file(metadata, chunks, signal) {
      // A request stream that merely throws looks complete to the server, which would keep half a file: the call is cut instead.
      const broken = new AbortController();
      async function* packets(): AsyncGenerator<FileUploadRequest> {
        yield create(FileUploadRequestSchema, { uploadPacket: { case: 'metadata', value: metadata } });
        try {
          for await (const data of chunks) {
            yield create(FileUploadRequestSchema, { uploadPacket: { case: 'fileContents', value: { data } } });
          }
        } catch (caught) {
          broken.abort(caught);
          await new Promise(() => {});
        }
      }
      const cut = AbortSignal.any([signal, broken.signal]);
      try {
        await link().client(DataSyncService).fileUpload(packets(), { signal: cut, timeoutMs: fileTimeoutMs });
      } catch (caught) {
        throw broken.signal.aborted ? broken.signal.reason : caught;
      }
    },
  };
}
