/** Reads a DataCaptureUploadRequest {metadata 1, sensor_contents 2} in place: it may have millions of readings. */
import { fromBinary } from '@bufbuild/protobuf';
import { asPlatformError, invalidArgument, type Steps, WireReader } from '@platform/base';
import { type UploadMetadata, UploadMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';

export interface UploadRequest {
  readonly bytes: Uint8Array;
  readonly metadata: UploadMetadata | undefined;
  /** Number of sensor_contents. */
  readonly count: number;
  /** The first of them. */
  readonly first: Uint8Array | undefined;
}

/** Names, tags and parameters of methods are far smaller. Followers of the log decode it again. */
const maxMetadataBytes = 256 << 10;
/** A reading that a machine captured has at least 38 bytes, with its times, so 32 MiB never have more (D48). */
const maxReadings = 2 ** 20;
const fieldsPerStep = 8_192;

/** Tags of the fields, both length-delimited. */
const metadataTag = 0x0a;
export const contentTag = 0x12;

/** Throws invalid_argument when the bytes are not such a message. */
export function* readRequest(bytes: Uint8Array): Steps<UploadRequest> {
  const wire = new WireReader(bytes, 0, bytes.length);
  let metadata: Uint8Array | undefined;
  let first: Uint8Array | undefined;
  let count = 0;
  for (let fields = 1; wire.next(); fields++) {
    if (wire.tag === contentTag) {
      if (count++ === 0) first = wire.content();
      else if (count > maxReadings)
        throw invalidArgument(
          `expected at most ${maxReadings} readings in sensor_contents, found more: split the upload`,
        );
    }
    // As in every message, the last one applies.
    else if (wire.tag === metadataTag) metadata = wire.content();
    if (fields % fieldsPerStep === 0) yield;
  }
  if (wire.broken) throw invalidArgument('expected a DataCaptureUploadRequest, found other bytes or a part of one');
  return { bytes, metadata: metadata && decodeMetadata(metadata), count, first };
}

function decodeMetadata(bytes: Uint8Array): UploadMetadata {
  if (bytes.length > maxMetadataBytes)
    throw invalidArgument(`expected at most ${maxMetadataBytes} bytes of metadata, found ${bytes.length}`);
  try {
    return fromBinary(UploadMetadataSchema, bytes);
  } catch (caught) {
    throw invalidArgument(`expected metadata to be UploadMetadata: ${asPlatformError(caught).message}`, caught);
  }
}
