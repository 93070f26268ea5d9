/**
 * Capture files of version 1, which are only read, no longer written: magic, then frames {length u32, crc32c u32, payload}, all
 * little-endian. The first frame is a CaptureFileHeader, each further one a SensorData.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { crc32c, PlatformError } from '@platform/base';
import { type CaptureFileHeader, CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { maxRecordBytes, readU32 } from './format.ts';
import { checkedHeader } from './identity.ts';

/** "PLCAP", CR, LF, then the version. */
const magic = Uint8Array.of(0x50, 0x4c, 0x43, 0x41, 0x50, 0x0d, 0x0a);
const version = 1;
const frameHeaderBytes = 8;

export function isVersion1(bytes: Uint8Array): boolean {
  return magic.every((byte, at) => bytes[at] === byte);
}

/** @throws PlatformError data_loss: another version, or a torn header */
export function readVersion1Header(bytes: Uint8Array): { header: CaptureFileHeader; end: number } {
  const found = bytes[magic.length];
  if (found !== version)
    throw new PlatformError('data_loss', `capture file of version ${found}, expected ${version} after "PLCAP"`);
  const frame = frameAt(bytes, magic.length + 1);
  if (frame.payload === undefined) throw new PlatformError('data_loss', `capture file without header: ${frame.reason}`);
  try {
    return { header: checkedHeader(fromBinary(CaptureFileHeaderSchema, frame.payload)), end: frame.end };
  } catch (caught) {
    throw new PlatformError('data_loss', 'capture file whose header does not decode', caught);
  }
}

export interface Version1Readings {
  readonly readings: readonly Uint8Array[];
  readonly goodBytes: number;
  readonly cutReason: string | undefined;
}

/** Reads the frames from `from` to the first damage. After it, no boundary can be trusted, because frames do not contain their position. */
export function readVersion1(bytes: Uint8Array, from: number): Version1Readings {
  const readings: Uint8Array[] = [];
  let goodBytes = from;
  while (goodBytes < bytes.length) {
    const frame = frameAt(bytes, goodBytes);
    if (frame.payload === undefined) return { readings, goodBytes, cutReason: frame.reason };
    readings.push(frame.payload);
    goodBytes = frame.end;
  }
  return { readings, goodBytes, cutReason: undefined };
}

type FrameAt =
  | { readonly payload: Uint8Array; readonly end: number }
  | { readonly payload: undefined; readonly reason: string };

function frameAt(bytes: Uint8Array, offset: number): FrameAt {
  const left = bytes.length - offset;
  if (left < frameHeaderBytes) return { payload: undefined, reason: `${left} bytes are too short for a frame header` };
  const length = readU32(bytes, offset);
  if (length === 0) return { payload: undefined, reason: 'frame of length 0' };
  if (length > maxRecordBytes) return { payload: undefined, reason: `frame length ${length} over ${maxRecordBytes}` };
  const end = offset + frameHeaderBytes + length;
  if (end > bytes.length)
    return { payload: undefined, reason: `frame of ${length} bytes ends ${end - bytes.length} bytes after the file` };
  const payload = bytes.subarray(offset + frameHeaderBytes, end);
  if (crc32c(payload) !== readU32(bytes, offset + 4))
    return { payload: undefined, reason: `checksum of a frame of ${length} bytes does not match` };
  return { payload, end };
}
