/** The body of the first message: the identity of the file, then the public metadata. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { concatBytes, dataLoss, varintBytes, writeVarint } from '@platform/base';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type CaptureFileHeader, CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { identityTag, messageAt } from './format.ts';

export function encodeHeader(header: CaptureFileHeader): Uint8Array {
  const { stream, seq, partId, created, metadata } = header;
  const identity = toBinary(
    CaptureFileHeaderSchema,
    create(CaptureFileHeaderSchema, { stream, seq, partId, ...(created && { created }) }),
  );
  const start = new Uint8Array(identityTag.length + varintBytes(identity.length));
  start.set(identityTag);
  writeVarint(start, identityTag.length, identity.length);
  return concatBytes([
    start,
    identity,
    toBinary(DataCaptureMetadataSchema, metadata ?? create(DataCaptureMetadataSchema)),
  ]);
}

/** @throws PlatformError data_loss */
export function decodeHeader(body: Uint8Array): CaptureFileHeader {
  const identity = identityTag.every((byte, at) => body[at] === byte) ? messageAt(body, identityTag.length) : undefined;
  if (identity?.content === undefined) throw dataLoss('capture file without identity');
  try {
    const header = checkedHeader(fromBinary(CaptureFileHeaderSchema, identity.content));
    header.metadata = fromBinary(DataCaptureMetadataSchema, body.subarray(identity.end));
    return header;
  } catch (caught) {
    throw dataLoss('capture file whose header does not decode', caught);
  }
}

function checkedHeader(header: CaptureFileHeader): CaptureFileHeader {
  if (header.stream.length !== 16 || header.seq < 1n)
    throw dataLoss(`stream of ${header.stream.length} bytes (expected 16), seq ${header.seq} (expected 1 or more)`);
  return header;
}
