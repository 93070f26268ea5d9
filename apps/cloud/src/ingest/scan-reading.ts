/** A look at one SensorData as it came over the wire: what it holds, when it was taken, and whether it can be loaded again; its document stays encoded. */

import { WireReader } from '../wire/wire-reader.ts';
import { structProblem } from './check-struct.ts';

export interface ScannedReading {
  /** Which of the two the reading holds. */
  readonly kind: 'struct' | 'binary' | 'none';
  readonly timeReceivedMs: number | null;
  readonly metadata: Uint8Array | null;
  /** The payload of a binary reading. */
  readonly binary: Uint8Array | null;
  /** Why the reading cannot be stored; null: it can. */
  readonly problem: string | null;
}

// Year 1 to 9999, the range of google.protobuf.Timestamp.
const minSeconds = -62_135_596_800;
const maxSeconds = 253_402_300_799;

export function scanReading(bytes: Uint8Array): ScannedReading {
  let kind: ScannedReading['kind'] = 'none';
  let metadata: Uint8Array | null = null;
  let binary: Uint8Array | null = null;
  let documentProblem: string | null = null;
  const times: Times = {};
  const fields = new WireReader(bytes, 0, bytes.length);
  while (fields.next()) {
    if (fields.type !== 2 || fields.number > 3) continue;
    const { contentStart, contentEnd } = fields;
    if (fields.number === 1) {
      metadata = fields.content();
      scanTimes(bytes, contentStart, contentEnd, times);
    } else {
      // As in every oneof, the last one counts.
      kind = fields.number === 2 ? 'struct' : 'binary';
      binary = fields.number === 2 ? null : fields.content();
      if (fields.number === 2) documentProblem ??= structProblem(bytes, contentStart, contentEnd);
    }
  }
  const found = { kind, metadata, binary };
  if (fields.broken) {
    return { ...found, timeReceivedMs: null, problem: 'expected a SensorData message, found other bytes' };
  }
  if (kind === 'none') {
    return { ...found, timeReceivedMs: null, problem: 'expected a document or bytes, found neither' };
  }
  return { ...found, timeReceivedMs: times.receivedMs ?? null, problem: timeProblem(times) ?? documentProblem };
}

/** Whether a SensorData says when it was asked for or received. */
export function hasTimes(bytes: Uint8Array): boolean {
  const times: Times = {};
  const fields = new WireReader(bytes, 0, bytes.length);
  while (fields.next())
    if (fields.type === 2 && fields.number === 1) scanTimes(bytes, fields.contentStart, fields.contentEnd, times);
  return times.requestedMs !== undefined || times.receivedMs !== undefined;
}

interface Times {
  requestedMs?: number;
  receivedMs?: number;
  problem?: string;
}

function scanTimes(bytes: Uint8Array, start: number, end: number, found: Times): void {
  const fields = new WireReader(bytes, start, end);
  while (fields.next()) {
    if (fields.type !== 2 || fields.number > 2) continue;
    const ms = scanTimestamp(bytes, fields.contentStart, fields.contentEnd);
    const name = fields.number === 1 ? 'time_requested' : 'time_received';
    if (ms === null) found.problem = `expected ${name} to be a time between the years 1 and 9999, found another value`;
    else if (fields.number === 1) found.requestedMs = ms;
    else found.receivedMs = ms;
  }
  if (fields.broken) found.problem = 'expected SensorMetadata with its times, found other bytes';
}

function timeProblem({ problem, requestedMs, receivedMs }: Times): string | null {
  if (problem !== undefined) return problem;
  if (requestedMs !== undefined && receivedMs !== undefined) return null;
  const missing = [requestedMs === undefined && 'time_requested', receivedMs === undefined && 'time_received'];
  const names = missing.filter((name) => name !== false);
  return `expected time_requested and time_received, found no ${names.join(' and no ')}`;
}

function scanTimestamp(bytes: Uint8Array, start: number, end: number): number | null {
  let seconds = 0;
  let nanos = 0;
  const fields = new WireReader(bytes, start, end);
  while (fields.next()) {
    if (fields.type !== 0) continue;
    if (fields.number === 1) seconds = fields.value;
    else if (fields.number === 2) nanos = fields.value;
  }
  const sane = seconds >= minSeconds && seconds <= maxSeconds && nanos >= 0 && nanos <= 999_999_999;
  if (fields.broken || !sane) return null;
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}
