/**
 * Scans a SensorData from the wire without decoding its document: what it holds, when it was captured, and whether it can be loaded again.
 */
import type { Steps } from '@platform/base';
import type { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { structProblem } from './check-struct.ts';

export interface ScannedReading {
  /** Which of the two the reading holds. */
  readonly kind: 'struct' | 'binary' | 'none';
  readonly timeReceivedMs: number | null;
  /** It has both times, requested and received. */
  readonly hasBothTimes: boolean;
  /** Why the reading cannot be stored; null: it can. */
  readonly problem: string | null;
}

const view = /* @__PURE__ */ new SensorDataView();

/** Scans the SensorData in bytes[start..end). */
export function scanReading(bytes: Uint8Array, start = 0, end: number = bytes.length): ScannedReading {
  view.read(bytes, start, end);
  const { kind, receivedMs, hasRequested, hasReceived } = view;
  const unknown = { kind, timeReceivedMs: null, hasBothTimes: false };
  if (!view.isWhole) return { ...unknown, problem: 'expected a SensorData message, found other bytes' };
  if (kind === 'none') return { ...unknown, problem: 'expected a document or bytes, found neither' };
  const problem =
    timeProblem(view) ?? (kind === 'struct' ? structProblem(bytes, view.contentStart, view.contentEnd) : null);
  return { kind, timeReceivedMs: receivedMs, hasBothTimes: hasRequested && hasReceived, problem };
}

const readingsPerStep = 1_024;

/** Whether any of them has a time of request or receipt. */
export function* haveTimes(readings: ReadingRanges): Steps<boolean> {
  for (let index = 0; index < readings.count; index++) {
    view.read(readings.bytes, readings.start(index), readings.end(index));
    if (view.requestedMs !== null || view.receivedMs !== null) return true;
    if (index % readingsPerStep === readingsPerStep - 1) yield;
  }
  return false;
}

function timeProblem(reading: SensorDataView): string | null {
  if (!reading.isMetadataWhole) return 'expected SensorMetadata with its times, found other bytes';
  if (reading.hasRequested && reading.requestedMs === null) return noTime('time_requested');
  if (reading.hasReceived && reading.receivedMs === null) return noTime('time_received');
  return null;
}

function noTime(name: string): string {
  return `expected ${name} to be a time between the years 1 and 9999, found another value`;
}
