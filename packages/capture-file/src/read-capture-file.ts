import { dataLoss } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { nextRecord, recordAt } from './format.ts';
import { readPublicReadings } from './public-file.ts';
import { type CaptureFileKind, type HeaderOfFile, readCaptureFileHeader } from './read-header.ts';

export interface CaptureFileContents {
  readonly kind: CaptureFileKind;
  readonly header: CaptureFileHeader;
  /** Encoded SensorData in capture order; views of the given bytes. */
  readonly readings: readonly Uint8Array[];
  /** Length of the valid prefix. */
  readonly goodBytes: number;
  /** Bytes that belong to no readable reading; 0 for an intact file. */
  readonly cutBytes: number;
  /** Why the prefix ends before the file does. */
  readonly cutReason: string | undefined;
  /** Readings that the file is known to have contained but that cannot be read. */
  readonly missing: number;
  /** If some are missing: the place of each reading among those that were captured, counted from 1. Absent for public files. */
  readonly places?: readonly number[];
}

/**
 * Reads a capture file; if it is damaged, reads its intact records.
 *
 * @param expected how many readings the file was sealed with, if that is known (`readingsInName`)
 * @throws PlatformError data_loss if not even the header can be read.
 */
export function readCaptureFile(bytes: Uint8Array, expected = 0): CaptureFileContents {
  const found = readCaptureFileHeader(bytes);
  const { header, kind, end } = found;
  if (kind === 'own') return readRecords(bytes, found, expected);
  const read = readPublicReadings(bytes, end);
  if (read.readings.length === 0) throw dataLoss(`not a capture file: ${read.cutReason ?? 'it has no readings'}`);
  const missing = Math.max(0, expected - read.readings.length);
  return { kind, header, ...read, cutBytes: bytes.length - read.goodBytes, missing };
}

/** C3: damage costs only the records that it touches. Each record has its index, so moved or repeated records are put in order. */
function readRecords(bytes: Uint8Array, { header, end, seed }: HeaderOfFile, expected: number): CaptureFileContents {
  const byIndex = new Map<number, Uint8Array>();
  let at = end;
  let goodBytes: number | undefined;
  let cutBytes = 0;
  let cutReason: string | undefined;
  let last = 0;
  let isOrdered = true;
  const damaged = (reason: string, cut: number): void => {
    goodBytes ??= at;
    cutReason ??= reason;
    cutBytes += cut;
  };
  while (at < bytes.length) {
    const record = recordAt(bytes, at, seed);
    if (record.body === undefined) {
      // A binary file contains a single, large reading.
      const isBinary = header.metadata?.type === DataType.BINARY_SENSOR;
      const next = (isBinary ? undefined : nextRecord(bytes, at + 1, seed)) ?? bytes.length;
      damaged(record.reason, next - at);
      at = next;
      continue;
    }
    const { index, body } = record;
    if (byIndex.has(index)) damaged(`reading ${index} occurs twice`, record.end - at);
    else {
      if (index !== last + 1) damaged(`reading ${index} follows reading ${last}`, 0);
      isOrdered &&= index > last;
      last = index;
      byIndex.set(index, body);
    }
    at = record.end;
  }
  const found = isOrdered ? byIndex : new Map([...byIndex].toSorted(([a], [b]) => a - b));
  const readings = [...found.values()];
  const most = isOrdered ? last : Math.max(0, ...found.keys());
  const missing = Math.max(most, expected) - readings.length;
  const contents = { kind: 'own', header, readings, goodBytes: goodBytes ?? at, cutBytes, cutReason, missing } as const;
  return missing === 0 ? contents : { ...contents, places: [...found.keys()] };
}
