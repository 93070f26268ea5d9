import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { frameAt } from './format.ts';
import { readCaptureFileHeader } from './read-capture-file-header.ts';

export interface CaptureFileContents {
  readonly header: CaptureFileHeader;
  /** Encoded SensorData in capture order; views of the given bytes. */
  readonly readings: readonly Uint8Array[];
  /** Length of the valid prefix. */
  readonly goodBytes: number;
  /** Bytes after the valid prefix; 0 for an intact file. */
  readonly cutBytes: number;
  /** Why the prefix ends before the file does. */
  readonly cutReason: string | undefined;
}

/**
 * Reads a capture file; keeps the valid prefix of a torn one.
 *
 * @throws PlatformError data_loss if not even the header can be read.
 */
export function readCaptureFile(bytes: Uint8Array): CaptureFileContents {
  const { header, end } = readCaptureFileHeader(bytes);
  const readings: Uint8Array[] = [];
  let goodBytes = end;
  let cutReason: string | undefined;
  while (goodBytes < bytes.length) {
    const frame = frameAt(bytes, goodBytes);
    if (frame.payload === undefined) {
      cutReason = frame.reason;
      break;
    }
    readings.push(frame.payload);
    goodBytes = frame.end;
  }
  return { header, readings, goodBytes, cutBytes: bytes.length - goodBytes, cutReason };
}
