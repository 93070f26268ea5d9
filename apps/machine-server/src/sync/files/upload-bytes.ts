/** Sends bytes that are not in a file, such as an image from a client for datasets. */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { maxTags } from '@platform/machine-config/limits';
import {
  DataSyncService,
  DataType,
  type FileUploadRequest,
  FileUploadRequestSchema,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { FileContext } from './file-context.ts';

export interface AboutBytes {
  readonly mimeType: string;
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly tags: readonly string[];
  readonly datasetIds: readonly string[];
}

const chunkBytes = 64 * 1024;
const timeoutMs = 120_000;

/** @param context `nowMs`: when the bytes arrived. A repeated call of the client is another upload. */
export async function uploadBytes(
  bytes: Uint8Array,
  { mimeType, fileExtension, tags, datasetIds }: AboutBytes,
  { link, partId, rate, nowMs }: Pick<FileContext, 'link' | 'partId' | 'rate'> & { readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const value = create(UploadMetadataSchema, {
    ...{ partId, type: DataType.FILE, fileExtension, mimeType, datasetIds: [...datasetIds] },
    fileName: `${new Date(nowMs).toISOString().replaceAll(':', '_')}${fileExtension}`,
    fileCreateTime: timestampFromMs(nowMs),
    fileModifyTime: timestampFromMs(nowMs),
    tags: tags.slice(0, maxTags),
  });
  async function* packets(): AsyncGenerator<FileUploadRequest> {
    yield create(FileUploadRequestSchema, { uploadPacket: { case: 'metadata', value } });
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const data = bytes.subarray(at, at + chunkBytes);
      yield create(FileUploadRequestSchema, { uploadPacket: { case: 'fileContents', value: { data } } });
    }
  }
  await rate.take(bytes.length, signal);
  await link.client(DataSyncService).fileUpload(packets(), { signal, timeoutMs });
}
