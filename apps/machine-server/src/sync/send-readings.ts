/** Sends the readings of one capture file. */
import { type DescService, toBinary } from '@bufbuild/protobuf';
import {
  DataSyncService,
  RawDataCaptureUploadRequestSchema,
  type UploadMetadata,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Link } from '@platform/rpc/client';
import { streamCapture } from './stream-capture.ts';

/** DataSyncService with a request type whose parts stay encoded: the same bytes on the wire. */
const upload = { ...DataSyncService.method.dataCaptureUpload, input: RawDataCaptureUploadRequestSchema };
const rawService = {
  ...DataSyncService,
  methods: [upload],
  method: { dataCaptureUpload: upload },
} as const satisfies DescService;

const uploadTimeoutMs = 30_000;
/** Larger binary readings are sent in parts, as public machine-servers do. */
const mostInOneCall = 1_000_000;
const streamTimeoutMs = 3_600_000;
/** Maximum size of a call for a file that need not be sent in one call. */
const callBytes = 8 * 1024 * 1024;

export interface SendOptions {
  readonly isBinary: boolean;
  /** A file with an identity is one upload (I1). Other files may have any size. */
  readonly isOneCall: boolean;
}

export async function sendReadings(
  link: Pick<Link, 'client'>,
  metadata: UploadMetadata,
  readings: readonly Uint8Array[],
  { isBinary, isOneCall }: SendOptions,
  signal: AbortSignal,
): Promise<void> {
  const encoded = toBinary(UploadMetadataSchema, metadata);
  for (const part of isOneCall ? [readings] : inParts(readings, isBinary)) {
    const [first] = part;
    if (first === undefined) continue;
    if (isBinary && first.length > mostInOneCall)
      await streamCapture(link, metadata, first, { signal, timeoutMs: streamTimeoutMs });
    else {
      const request = { metadata: encoded, sensorContents: [...part] };
      await link.client(rawService).dataCaptureUpload(request, { signal, timeoutMs: uploadTimeoutMs });
    }
  }
}

/** Each binary reading alone, others together up to a size. */
function inParts(readings: readonly Uint8Array[], isBinary: boolean): Uint8Array[][] {
  const parts: Uint8Array[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const reading of readings) {
    if (isBinary || bytes + reading.length > callBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(reading);
    bytes += reading.length;
  }
  return parts;
}
