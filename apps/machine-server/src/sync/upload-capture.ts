/** Sends one sealed capture file in one call, with its readings left encoded. */
import { readFile } from 'node:fs/promises';
import { create, type DescService, toBinary } from '@bufbuild/protobuf';
import type { Clock, Log } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import {
  DataCaptureMetadataSchema,
  DataSyncService,
  DataType,
  RawDataCaptureUploadRequestSchema,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import type { Link } from '@platform/rpc/client';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { RateLimit } from './rate-limit.ts';
import { keepOversize, splitOversize } from './split-oversize.ts';
import { streamCapture } from './stream-capture.ts';

export interface UploadContext {
  readonly link: Pick<Link, 'client'>;
  readonly ledger: SeqLedger;
  readonly clock: Clock;
  readonly log: Log;
  readonly rate: Pick<RateLimit, 'take'>;
  /** Readings that were set aside because the cloud would refuse them. */
  readonly refused?: (header: CaptureFileHeader, readings: readonly Uint8Array[]) => void;
}

/** DataSyncService with a request type whose parts stay encoded: the same bytes on the wire. */
const upload = { ...DataSyncService.method.dataCaptureUpload, input: RawDataCaptureUploadRequestSchema };
const rawService = {
  ...DataSyncService,
  methods: [upload],
  method: { dataCaptureUpload: upload },
} as const satisfies DescService;

const uploadTimeoutMs = 30_000;
/** Binary readings that are larger are sent in parts, as by public machine-servers. */
const mostInOneCall = 1_000_000;
const streamTimeoutMs = 3_600_000;

/**
 * Resolves once the cloud has committed the file (I2) or the attempt has failed. Never throws; the file is not modified, only oversize
 * readings are copied out.
 */
export async function uploadCapture(
  path: string,
  directory: string,
  { link, ledger, clock, log, rate, refused }: UploadContext,
  signal: AbortSignal,
): Promise<Outcome & { readonly identity?: { stream: Uint8Array; seq: number }; readonly resource?: string }> {
  try {
    const contents = readCaptureFile(await readFile(path));
    const { header } = contents;
    const resource = `${header.metadata?.componentType ?? ''}/${header.metadata?.componentName ?? ''}`;
    const identity = { stream: header.stream, seq: Number(header.seq) };
    if (contents.cutBytes > 0) {
      const { cutBytes, cutReason: reason } = contents;
      log.warn('a capture file is damaged; its valid part is sent', { path, cutBytes, reason });
    }
    // The limit for readings (D14) does not apply to bytes.
    const isBinary = header.metadata?.type === DataType.BINARY_SENSOR;
    const { rest, oversize } = isBinary ? { rest: contents.readings, oversize: [] } : splitOversize(contents.readings);
    if (oversize.length > 0 && (await keepOversize(path, directory, contents, oversize, clock.now()))) {
      const sizes = oversize.map((reading) => reading.length);
      refused?.(header, oversize);
      log.error('readings over 4 MB cannot be synced; set aside', { path, bytes: sizes });
    }
    if (rest.length > 0) {
      const lowWaterMark = ledger.lowWaterMark(identity.stream, identity.seq);
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
        identity: { stream: header.stream, seq: header.seq, floor: BigInt(lowWaterMark) },
      });
      const request = { metadata: toBinary(UploadMetadataSchema, metadata), sensorContents: [...rest] };
      await rate.take(contents.goodBytes, signal);
      try {
        const [first] = rest;
        if (isBinary && first !== undefined && first.length > mostInOneCall)
          await streamCapture(link, metadata, first, { signal, timeoutMs: streamTimeoutMs });
        else await link.client(rawService).dataCaptureUpload(request, { signal, timeoutMs: uploadTimeoutMs });
      } catch (caught) {
        return { ...outcomeOf(caught), identity, resource };
      }
    }
    return { kind: 'accepted', readings: rest.length, identity, resource };
  } catch (caught) {
    return outcomeOf(caught);
  }
}
