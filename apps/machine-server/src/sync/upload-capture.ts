/**
 * Sends one sealed capture file without decoding its readings: ours in one call, one of a public machine-server in as many as necessary.
 */
import { create } from '@bufbuild/protobuf';
import type { Clock, Log } from '@platform/base';
import type { CaptureFileContents } from '@platform/capture-file';
import {
  DataCaptureMetadataSchema,
  DataType,
  type UploadMetadata,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { readCaptured } from '../directories/read-captured.ts';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import type { SyncLink } from './files/file-context.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { RateLimit } from './rate-limit.ts';
import { sendReadings } from './send-readings.ts';
import { keepOversize, splitOversize } from './split-oversize.ts';

export interface UploadContext {
  readonly link: SyncLink;
  /** The part of this machine; our files name the part that captured them, those of public machine-servers do not. */
  readonly partId: string;
  readonly ledger: SeqLedger;
  readonly clock: Clock;
  readonly log: Log;
  readonly rate: Pick<RateLimit, 'take'>;
  /** Readings that were set aside because the cloud would refuse, or has refused, them. */
  readonly refused?: (reason: GapReason, header: CaptureFileHeader, readings: readonly Uint8Array[]) => void;
}

export type CaptureOutcome = Outcome & {
  /** Absent if the file has none, or cannot be read. */
  readonly identity?: { stream: Uint8Array; seq: number } | undefined;
  /** `<api>/<name>`. */
  readonly resource?: string;
  /** The remains of a damaged file. */
  readonly damaged?: CaptureFileContents | undefined;
};

/**
 * Resolves once the cloud has committed the file (I2) or the attempt has failed. Never throws; the file is not modified, only oversize
 * readings are copied out.
 */
export async function uploadCapture(
  path: string,
  directory: string,
  { link, partId, ledger, clock, log, rate, refused }: UploadContext,
  signal: AbortSignal,
): Promise<CaptureOutcome> {
  try {
    const read = await readCaptured(path, directory);
    const isPublic = read.kind === 'public';
    const header = isPublic ? { ...read.header, partId } : read.header;
    const contents = { ...read, header };
    const resource = `${header.metadata?.componentType ?? ''}/${header.metadata?.componentName ?? ''}`;
    const identity = isPublic ? undefined : { stream: header.stream, seq: Number(header.seq) };
    const isDamaged = read.cutBytes > 0 || read.missing > 0;
    // The limit for readings (D14) does not apply to bytes.
    const isBinary = header.metadata?.type === DataType.BINARY_SENSOR;
    const { rest, oversize } = isBinary ? { rest: contents.readings, oversize: [] } : splitOversize(contents.readings);
    if (oversize.length > 0 && (await keepOversize(path, directory, contents, oversize, clock.now()))) {
      const sizes = oversize.map((reading) => reading.length);
      refused?.(GapReason.TOO_LARGE, header, oversize);
      log.error('readings over 4 MB cannot be synced; set aside', { path, bytes: sizes });
    }
    const metadata = uploadMetadata(header);
    if (identity !== undefined) {
      const floor = BigInt(ledger.lowWaterMark(identity.stream, identity.seq));
      metadata.identity = {
        $typeName: 'platform.app.datasync.v1.UploadIdentity',
        stream: header.stream,
        seq: header.seq,
        floor,
      };
    }
    try {
      await rate.take(contents.goodBytes, signal);
      await sendReadings(link, metadata, rest, { isBinary, isOneCall: !isPublic }, signal);
    } catch (caught) {
      return { ...outcomeOf(caught), identity, resource };
    }
    return {
      ...{ kind: 'accepted', readings: rest.length, identity, resource },
      damaged: isDamaged ? contents : undefined,
    };
  } catch (caught) {
    return outcomeOf(caught);
  }
}

function uploadMetadata({ partId, metadata }: CaptureFileHeader): UploadMetadata {
  const { componentType, componentName, methodName, type, methodParameters, fileExtension, tags, mimeType } =
    metadata ?? create(DataCaptureMetadataSchema);
  return create(UploadMetadataSchema, {
    ...{ partId, componentType, componentName, methodName, type, methodParameters, fileExtension, tags, mimeType },
  });
}
