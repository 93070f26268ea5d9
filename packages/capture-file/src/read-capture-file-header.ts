import { fromBinary } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { type CaptureFileHeader, CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { formatVersion, frameAt, magic } from './format.ts';

/**
 * The header of a capture file from its first bytes (`fileHeaderBytes` are always enough).
 *
 * @throws PlatformError data_loss: not a capture file, an unsupported version, or a torn header.
 */
export function readCaptureFileHeader(bytes: Uint8Array): { header: CaptureFileHeader; end: number } {
  for (let i = 0; i < magic.length - 1; i++) {
    if (bytes[i] !== magic[i]) {
      throw new PlatformError(
        'data_loss',
        `not a capture file: it does not start with "PLCAP" (${bytes.length} bytes)`,
      );
    }
  }
  const version = bytes[magic.length - 1];
  if (version !== formatVersion) {
    throw new PlatformError('data_loss', `capture file of version ${version}, expected ${formatVersion}`);
  }
  const frame = frameAt(bytes, magic.length);
  if (frame.payload === undefined) throw new PlatformError('data_loss', `capture file without header: ${frame.reason}`);
  try {
    const header = fromBinary(CaptureFileHeaderSchema, frame.payload);
    if (header.stream.length !== 16 || header.seq < 1n) {
      throw new Error(`stream of ${header.stream.length} bytes (expected 16), seq ${header.seq} (expected 1 or more)`);
    }
    return { header, end: frame.end };
  } catch (caught) {
    throw new PlatformError('data_loss', 'capture file whose header does not decode', caught);
  }
}
