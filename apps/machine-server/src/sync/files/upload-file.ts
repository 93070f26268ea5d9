/** Sends an arbitrary file: resumably if it is large and the cloud supports it, otherwise in one stream. */
import type { BigIntStats } from 'node:fs';
import { extname, sep } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { RegularFile } from '@platform/base';
import { maxTags } from '@platform/machine-config/limits';
import {
  DataSyncService,
  DataType,
  type FileUploadRequest,
  FileUploadRequestSchema,
  type UploadMetadata,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { openBelow } from '../../directories/open-below.ts';
import { type Outcome, outcomeOf } from '../outcome.ts';
import { changed, type FileContext } from './file-context.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import { isResumable, uploadResumably } from './upload-resumably.ts';

const chunkBytes = 64 * 1024;
/** A stream that takes longer than an hour is cut and starts over, so such files are sent resumably. */
const uploadTimeoutMs = 3_600_000;

/**
 * Path segments `tag=<t>` and `dataset=<id>` become tags and datasets, as public machine-servers do.
 *
 * @param root the configured folder that contains the file
 */
export async function uploadFile(
  path: string,
  root: string,
  context: FileContext,
  signal: AbortSignal,
): Promise<Outcome & { readonly fingerprint?: Fingerprint; readonly bytes?: number }> {
  try {
    await using file = await openBelow(path, root);
    const fingerprint = fingerprintOf(file.stats);
    const metadata = metadataOf(path, file.stats, context);
    const isSent =
      isResumable(fingerprint.bytes) && (await uploadResumably({ file, fingerprint, metadata, ...context }, signal));
    if (!isSent) await uploadAtOnce(file, fingerprint, metadata, context, signal);
    return { kind: 'accepted', readings: 0, fingerprint, bytes: fingerprint.bytes };
  } catch (caught) {
    return outcomeOf(caught);
  }
}

function metadataOf(
  path: string,
  { birthtimeMs, mtimeMs }: BigIntStats,
  { partId, tags }: FileContext,
): UploadMetadata {
  const segments = path.split(sep);
  const named = (key: string): string[] =>
    segments.filter((segment) => segment.startsWith(key)).map((segment) => segment.slice(key.length));
  return create(UploadMetadataSchema, {
    partId,
    type: DataType.FILE,
    fileName: path,
    fileExtension: extname(path),
    fileCreateTime: timestampFromMs(Number(birthtimeMs)),
    fileModifyTime: timestampFromMs(Number(mtimeMs)),
    tags: [...tags, ...named('tag=')].slice(0, maxTags),
    datasetIds: named('dataset='),
  });
}

async function uploadAtOnce(
  file: RegularFile,
  fingerprint: Fingerprint,
  metadata: UploadMetadata,
  { link, rate }: FileContext,
  signal: AbortSignal,
): Promise<void> {
  // A request stream that only throws looks complete to the server, which would keep a partial file; so the call is cut instead.
  const broken = new AbortController();
  const cut = AbortSignal.any([signal, broken.signal]);
  async function* packets(): AsyncGenerator<FileUploadRequest> {
    yield create(FileUploadRequestSchema, { uploadPacket: { case: 'metadata', value: metadata } });
    try {
      for (let at = 0; at < fingerprint.bytes; ) {
        const buffer = Buffer.allocUnsafe(chunkBytes);
        const bytesRead = await file.read(buffer, at);
        if (bytesRead === 0) throw changed(fingerprint.bytes, at);
        await rate.take(bytesRead, cut);
        at += bytesRead;
        const data = buffer.subarray(0, bytesRead);
        yield create(FileUploadRequestSchema, { uploadPacket: { case: 'fileContents', value: { data } } });
      }
    } catch (caught) {
      broken.abort(caught);
      await new Promise(() => {});
    }
  }
  try {
    await link.client(DataSyncService).fileUpload(packets(), { signal: cut, timeoutMs: uploadTimeoutMs });
  } catch (caught) {
    throw broken.signal.aborted ? broken.signal.reason : caught;
  }
}
