import { readFile } from 'node:fs/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock, Log } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import { DataCaptureMetadataSchema, UploadMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { keepOversize, splitOversize } from './split-oversize.ts';
import type { Uploads } from './uploads.ts';

export interface UploadContext {
  readonly uploads: Uploads;
  readonly ledger: SeqLedger;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends one sealed capture file. Never throws; the file is not touched, only oversize readings are copied out. */
export async function uploadCapture(
  path: string,
  directory: string,
  context: UploadContext,
  signal: AbortSignal,
): Promise<Outcome & { readonly identity?: { stream: Uint8Array; seq: number } }> {
  try {
    const contents = readCaptureFile(await readFile(path));
    const { header } = contents;
    const identity = { stream: header.stream, seq: Number(header.seq) };
    if (contents.cutBytes > 0) {
      const { cutBytes, cutReason: reason } = contents;
      context.log.warn('a capture file is damaged; its good part is sent', { path, cutBytes, reason });
    }
    const { rest, oversize } = splitOversize(contents.readings);
    const nowMs = context.clock.now();
    if (oversize.length > 0 && (await keepOversize(path, directory, contents, oversize, nowMs))) {
      const sizes = oversize.map((reading) => reading.length);
      context.log.error('readings over 4 MB cannot be synced; set aside', { path, bytes: sizes });
    }
    if (rest.length > 0) {
      const floor = context.ledger.floor(identity.stream, identity.seq);
      const { componentType, componentName, methodName, type, methodParameters, fileExtension, tags, mimeType } =
        header.metadata ?? create(DataCaptureMetadataSchema);
      const metadata = create(UploadMetadataSchema, {
        partId: header.partId,
        componentType,
        componentName,
        methodName,
        type,
        methodParameters,
        fileExtension,
        tags,
        mimeType,
        identity: { stream: header.stream, seq: header.seq, floor: BigInt(floor) },
      });
      try {
        await context.uploads.readings(toBinary(UploadMetadataSchema, metadata), rest, signal);
      } catch (caught) {
        return { ...outcomeOf(caught), identity };
      }
    }
    return { kind: 'accepted', readings: rest.length, identity };
  } catch (caught) {
    return outcomeOf(caught);
  }
}
