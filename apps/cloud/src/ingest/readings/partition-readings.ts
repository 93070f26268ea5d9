/** Separates the readings of a tabular upload into those that are stored and those reported as gaps (D14). */
import { invalidArgument, maxReadingBytes, type PlatformError, type Steps, WireReader } from '@platform/base';
import { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import { contentTag, type UploadRequest } from './read-request.ts';
import { scanReading } from './scan-reading.ts';

export interface RefusedReading {
  /** Index in the upload as it was sent. */
  readonly index: number;
  readonly sizeBytes: number;
  readonly reason: string;
}

export interface PartitionedReadings {
  readonly stored: ReadingRanges;
  /** The first ones each; the last may stand for all further ones. */
  readonly refused: readonly RefusedReading[];
  /** Some reading lacks a time. */
  readonly untimed: boolean;
}

/** Refused readings that are recorded each: an upload could otherwise be recorded as far more than its own bytes. */
const maxRefused = 1_000;
/** Their times are added when they are stored: up to nine times their bytes. Machines capture none without. */
const maxUntimed = 100_000;
/** The cost of a reading that hardly has any bytes. */
const bytesPerReading = 64;
const bytesPerStep = 64 << 10;

/**
 * Throws invalid_argument when nothing can be stored, or when there are binary readings among the documents; the sender must then keep
 * them.
 */
export function* partitionReadings(request: UploadRequest): Steps<PartitionedReadings> {
  const { bytes, count } = request;
  if (count === 0) {
    throw invalidArgument('expected at least one reading in sensor_contents, found none');
  }
  const stored = new ReadingRanges(bytes);
  const refused: RefusedReading[] = [];
  const rest = { index: 0, count: 0, sizeBytes: 0, reason: '' };
  let untimed = 0;
  let looked = 0;
  const wire = new WireReader(bytes, 0, bytes.length);
  for (let index = 0; wire.next(); ) {
    if (wire.tag !== contentTag) continue;
    const { contentStart: start, contentEnd: end } = wire;
    const { reason, hasBothTimes } = look(bytes, start, end, index);
    if (!hasBothTimes && reason === null && ++untimed > maxUntimed) throw tooManyUntimed();
    const sizeBytes = end - start;
    if (reason === null) stored.add(start, end);
    else if (refused.length < maxRefused) refused.push({ index, sizeBytes, reason });
    else if (rest.count++ === 0) Object.assign(rest, { index, sizeBytes, reason });
    else rest.sizeBytes += sizeBytes;
    index++;
    looked += bytesPerReading + sizeBytes;
    if (looked >= bytesPerStep) {
      looked = 0;
      yield;
    }
  }
  const [first] = refused;
  if (stored.count === 0 && first) {
    throw invalidArgument(
      `none of the ${count} readings can be stored; sensor_contents[${first.index}]: ${first.reason}`,
    );
  }
  const { index, sizeBytes } = rest;
  if (rest.count === 1) refused.push({ index, sizeBytes, reason: rest.reason });
  else if (rest.count > 1)
    refused.push({ index, sizeBytes, reason: `this and ${rest.count - 1} readings after it: ${rest.reason}` });
  return { stored, refused, untimed: untimed > 0 };
}

function tooManyUntimed(): PlatformError {
  return invalidArgument(
    `expected at most ${maxUntimed} readings without time_requested or time_received in one upload, found more: split the upload`,
  );
}

function look(
  bytes: Uint8Array,
  start: number,
  end: number,
  index: number,
): { reason: string | null; hasBothTimes: boolean } {
  if (end - start > maxReadingBytes) {
    const reason = `expected at most ${maxReadingBytes} bytes (4 MB) for one tabular reading, found ${end - start}`;
    return { reason, hasBothTimes: true };
  }
  const { kind, problem: reason, hasBothTimes } = scanReading(bytes, start, end);
  if (kind === 'binary') {
    throw invalidArgument(
      `an upload of type DATA_TYPE_TABULAR_SENSOR expected documents, found bytes in sensor_contents[${index}]: send them as DATA_TYPE_BINARY_SENSOR`,
    );
  }
  return { reason, hasBothTimes };
}
