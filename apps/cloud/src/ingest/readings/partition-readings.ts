/** Separates the readings of a tabular upload into those that are stored and those reported as gaps (D14). */
import { maxReadingBytes, PlatformError } from '@platform/base';
import { scanReading } from './scan-reading.ts';

export interface RefusedReading {
  /** Index in the upload as it was sent. */
  readonly index: number;
  readonly sizeBytes: number;
  readonly reason: string;
}

export interface PartitionedReadings {
  readonly stored: readonly Uint8Array[];
  readonly refused: readonly RefusedReading[];
  /** Some reading lacks a time. */
  readonly untimed: boolean;
}

/**
 * Throws invalid_argument when nothing can be stored, or when there are binary readings among the documents; the sender must then keep
 * them.
 */
export function partitionReadings(readings: readonly Uint8Array[]): PartitionedReadings {
  if (readings.length === 0) {
    throw new PlatformError('invalid_argument', 'expected at least one reading in sensor_contents, found none');
  }
  const stored: Uint8Array[] = [];
  const refused: RefusedReading[] = [];
  let untimed = false;
  readings.forEach((reading, index) => {
    const { reason, hasBothTimes } = look(reading, index);
    untimed ||= !hasBothTimes;
    if (reason === null) stored.push(reading);
    else refused.push({ index, sizeBytes: reading.length, reason });
  });
  const [first] = refused;
  if (stored.length === 0 && first) {
    throw new PlatformError(
      'invalid_argument',
      `none of the ${readings.length} readings can be stored; sensor_contents[${first.index}]: ${first.reason}`,
    );
  }
  return { stored, refused, untimed };
}

function look(reading: Uint8Array, index: number): { reason: string | null; hasBothTimes: boolean } {
  if (reading.length > maxReadingBytes) {
    const reason = `expected at most ${maxReadingBytes} bytes (4 MB) for one tabular reading, found ${reading.length}`;
    return { reason, hasBothTimes: true };
  }
  const { kind, problem: reason, hasBothTimes } = scanReading(reading);
  if (kind === 'binary') {
    throw new PlatformError(
      'invalid_argument',
      `an upload of type DATA_TYPE_TABULAR_SENSOR expected documents, found bytes in sensor_contents[${index}]: send them as DATA_TYPE_BINARY_SENSOR`,
    );
  }
  return { reason, hasBothTimes };
}
