/** A look at one SensorData as it came over the wire: what it holds, when it was taken, and whether it can be loaded again; its document stays encoded. */
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { structProblem } from './check-struct.ts';

export interface ScannedReading {
  /** Which of the two the reading holds. */
  readonly kind: 'struct' | 'binary' | 'none';
  readonly timeReceivedMs: number | null;
  /** It says when it was asked for and when it was received. */
  readonly hasBothTimes: boolean;
  /** Why the reading cannot be stored; null: it can. */
  readonly problem: string | null;
}

const view = /* @__PURE__ */ new SensorDataView();

export function scanReading(bytes: Uint8Array): ScannedReading {
  view.read(bytes, 0, bytes.length);
  const { kind, receivedMs, hasRequested, hasReceived } = view;
  const unknown = { kind, timeReceivedMs: null, hasBothTimes: false };
  if (!view.isWhole) return { ...unknown, problem: 'expected a SensorData message, found other bytes' };
  if (kind === 'none') return { ...unknown, problem: 'expected a document or bytes, found neither' };
  const problem =
    timeProblem(view) ?? (kind === 'struct' ? structProblem(bytes, view.contentStart, view.contentEnd) : null);
  return { kind, timeReceivedMs: receivedMs, hasBothTimes: hasRequested && hasReceived, problem };
}

/** Whether a SensorData says when it was asked for or received. */
export function hasTimes(bytes: Uint8Array): boolean {
  view.read(bytes, 0, bytes.length);
  return view.requestedMs !== null || view.receivedMs !== null;
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
