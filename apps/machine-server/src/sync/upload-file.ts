import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, sep } from 'node:path';
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
import type { Link } from '@platform/rpc/client';
import { type Outcome, outcomeOf } from './outcome.ts';

const chunkBytes = 64 * 1024;
const uploadTimeoutMs = 3_600_000;

/** Sends an arbitrary file. Path segments `tag=<t>` and `dataset=<id>` become tags and datasets, as public machine-servers do. */
export async function uploadFile(
  path: string,
  partId: string,
  tags: readonly string[],
  link: Pick<Link, 'client'>,
  signal: AbortSignal,
): Promise<Outcome> {
  let opened: ReadStream | undefined;
  // A request stream that merely throws looks complete to the server, which would keep half a file; so the call is cut instead.
  const broken = new AbortController();
  async function* packets(metadata: FileUploadRequest): AsyncGenerator<FileUploadRequest> {
    yield metadata;
    try {
      // Opened only when read. A stream without listeners ends the process if its file cannot be opened; an unread stream keeps the file
      // open.
      opened = createReadStream(path, { highWaterMark: chunkBytes });
      for await (const data of opened)
        yield create(FileUploadRequestSchema, { uploadPacket: { case: 'fileContents', value: { data } } });
    } catch (caught) {
      broken.abort(caught);
      await new Promise(() => {});
    }
  }
  try {
    const { birthtimeMs, mtimeMs } = await stat(path);
    const segments = path.split(sep);
    const named = (key: string): string[] =>
      segments.filter((segment) => segment.startsWith(key)).map((segment) => segment.slice(key.length));
    const value = create(UploadMetadataSchema, {
      partId,
      type: DataType.FILE,
      fileName: path,
      fileExtension: extname(path),
      fileCreateTime: timestampFromMs(Math.floor(birthtimeMs)),
      fileModifyTime: timestampFromMs(Math.floor(mtimeMs)),
      tags: [...tags, ...named('tag=')].slice(0, maxTags),
      datasetIds: named('dataset='),
    });
    const first = create(FileUploadRequestSchema, { uploadPacket: { case: 'metadata', value } });
    const cut = AbortSignal.any([signal, broken.signal]);
    await link.client(DataSyncService).fileUpload(packets(first), { signal: cut, timeoutMs: uploadTimeoutMs });
    return { kind: 'accepted', readings: 0 };
  } catch (caught) {
    return outcomeOf(broken.signal.aborted ? broken.signal.reason : caught);
  } finally {
    opened?.destroy();
  }
}
