/** The missing readings if these readings of a capture file are never sent. Times are microseconds since 1970 UTC. */
import { relative, sep } from 'node:path';
import { fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, type TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { type CaptureFileContents, readingsInName } from '@platform/capture-file';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { apiOf, timeOf } from '../directories/paths.ts';
import type { GapSeries } from './gap-journal.ts';

export interface LostReadings {
  readonly series: GapSeries;
  readonly readings: number;
  readonly startUs: number;
  readonly endUs: number;
}

/** @param readings a SensorData each, in capture order; undefined if there are none */
export function lostReadings(header: CaptureFileHeader, readings: readonly Uint8Array[]): LostReadings | undefined {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const { componentType: api = '', componentName: name = '', methodName: method = '' } = header.metadata ?? {};
  const fallback = microsOf(header.created) ?? 0;
  const startUs = receivedUs(first) ?? fallback;
  const endUs = Math.max(startUs, receivedUs(last) ?? fallback);
  return { series: { api, name, method }, readings: readings.length, startUs, endUs };
}

/** The readings missing from a damaged capture file, at some time between its beginning and its last intact reading. */
export function damagedReadings(
  contents: CaptureFileContents,
  missing: number = contents.missing,
): LostReadings | undefined {
  const { header, readings } = contents;
  if (missing === 0) return undefined;
  const { componentType: api = '', componentName: name = '', methodName: method = '' } = header.metadata ?? {};
  const first = receivedUs(readings[0] ?? new Uint8Array());
  const startUs = Math.min(microsOf(header.created) ?? Number.POSITIVE_INFINITY, first ?? Number.POSITIVE_INFINITY);
  const from = Number.isFinite(startUs) ? startUs : 0;
  const endUs = Math.max(from, receivedUs(readings.at(-1) ?? new Uint8Array()) ?? from);
  return { series: { api, name, method }, readings: missing, startUs: from, endUs };
}

/**
 * The missing readings if the header of a sealed capture file is unreadable: the number comes from its name, the series from its folders,
 * in which `_` replaces characters that a file name cannot contain. Undefined if the path does not contain these.
 */
export function unreadableReadings(path: string, directory: string, nowMs: number): LostReadings | undefined {
  const [api, name, method, file, ...deeper] = relative(directory, path).split(sep);
  const readings = readingsInName(path);
  if (readings === undefined || readings === 0 || file === undefined || deeper.length > 0) return undefined;
  const atUs = (timeOf(file) ?? nowMs) * 1_000;
  const series = { api: apiOf(api ?? ''), name: name ?? '', method: method ?? '' };
  return { series, readings, startUs: atUs, endUs: atUs };
}

/** When an encoded reading was received; undefined if it has no time or does not decode. */
export function receivedUs(reading: Uint8Array): number | undefined {
  try {
    return microsOf(fromBinary(SensorDataSchema, reading).metadata?.timeReceived);
  } catch {
    return undefined;
  }
}

export function timestampOf(micros: number): MessageInitShape<typeof TimestampSchema> {
  const seconds = Math.floor(micros / 1e6);
  return { seconds: BigInt(seconds), nanos: Math.round(micros - seconds * 1e6) * 1_000 };
}

export function microsOf(time: Timestamp | undefined): number | undefined {
  return time === undefined
    ? undefined
    : Math.floor(timestampMs(time)) * 1_000 + (Math.floor(time.nanos / 1_000) % 1_000);
}
