/** A log line as it is stored, from the wire and back. Pure. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type LogLevel, zapFields } from '@platform/base';
import type { LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { Selectable } from 'kysely';
import { maxFieldsLength, maxMessageLength, maxNameLength, maxStackLength } from './limits.ts';
import type { MachineLogsTables } from './store.ts';

export type StoredLine = Selectable<MachineLogsTables['machine_logs']>;
/** What a filter sees and an entry is made of. */
export type Line = Omit<StoredLine, 'id'>;

/** A line that the cloud writes into a machine's log. */
export interface CloudLogLine {
  readonly level: LogLevel;
  readonly loggerName: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What is in `detail`; each is absent where there is nothing to say. */
export interface LineDetail {
  readonly caller?: JsonObject;
  readonly stack?: string;
  readonly fields?: readonly JsonObject[];
  /** Meant for whoever uses the machine, not for whoever programs it. */
  readonly userFacing?: true;
  /** Of the time, below its millisecond. */
  readonly nanos?: number;
}

export function lineOf(partId: string, entry: LogEntry, nowMs: number): Line {
  const { caller, stack, fields } = entry;
  const { timeMs, nanos } = timeOf(entry.time, nowMs);
  const fieldsFit = JSON.stringify(fields).length <= maxFieldsLength;
  const callerFits = JSON.stringify(caller ?? {}).length <= maxFieldsLength;
  const detail: LineDetail = {
    ...(caller !== undefined && callerFits && { caller }),
    ...(stack !== '' && { stack: text(stack, maxStackLength) }),
    ...(fields.length > 0 && fieldsFit && { fields }),
    ...(fields.some(saysUserFacing) && { userFacing: true }),
    ...(nanos > 0 && { nanos }),
  };
  return {
    part_id: partId,
    time_ms: timeMs,
    level: levelName(text(entry.level, maxNameLength)),
    logger_name: text(entry.loggerName, maxNameLength),
    host: text(entry.host, maxNameLength),
    message: text(entry.message, maxMessageLength),
    detail: JSON.stringify(detail),
    received_ms: nowMs,
  };
}

/** What the cloud says in a machine's log, it says to the user. */
export function ownLineOf(partId: string, line: CloudLogLine, nowMs: number): Line {
  const fields = line.fields === undefined ? undefined : zapFields(line.fields);
  return {
    part_id: partId,
    time_ms: nowMs,
    level: line.level,
    logger_name: text(line.loggerName, maxNameLength),
    host: 'cloud',
    message: text(line.message, maxMessageLength),
    detail: JSON.stringify({ fields, userFacing: true }),
    received_ms: nowMs,
  };
}

export function entryOf(line: Line): MessageInitShape<typeof LogEntrySchema> {
  const { caller = unknownCaller, stack = '', fields = [], nanos = 0 } = detailOf(line);
  return {
    host: line.host,
    level: line.level,
    time: { seconds: BigInt(Math.floor(line.time_ms / 1_000)), nanos: modulo(line.time_ms, 1_000) * 1e6 + nanos },
    loggerName: line.logger_name,
    message: line.message,
    stack,
    fields: [...fields],
    caller,
  };
}

/** Public clients written in Go read the file of a caller without asking whether there is one. */
const unknownCaller = { Defined: false, File: '', Line: 0, Function: '' };

export function detailOf(line: Line): LineDetail {
  return JSON.parse(line.detail) as LineDetail;
}

/** About what the line takes on the disk. */
export function bytesOf(line: Line): number {
  return (
    64 +
    [line.level, line.logger_name, line.host, line.message, line.detail].reduce(
      (sum, one) => sum + Buffer.byteLength(one),
      0,
    )
  );
}

/** One word for one level, whichever logger named it. */
export function levelName(level: string): string {
  const lower = level.toLowerCase();
  return aliases.get(lower) ?? lower;
}

const aliases: ReadonlyMap<string, string> = new Map([
  ['warning', 'warn'],
  ['err', 'error'],
  ['information', 'info'],
]);

/** `{"user_facing": true}`, or the shape in which public machine servers send a field: key, type and value apart. */
function saysUserFacing(field: JsonObject): boolean {
  if (field['user_facing'] === true) return true;
  if (field['Key'] !== 'user_facing') return false;
  return field['Integer'] === 1 || field['Interface'] === true || field['String'] === 'true';
}

/** Cut, and without what a text column cannot hold. */
function text(value: string, maxLength: number): string {
  return value.slice(0, maxLength).toWellFormed().replaceAll('\0', '\ufffd');
}

// Year 1 to 9999, the range of google.protobuf.Timestamp.
const minTimeMs = -62_135_596_800_000;
const maxTimeMs = 253_402_300_799_999;

/** A time that no calendar knows counts as now: it could be stored, but not be read back. */
function timeOf(time: Timestamp | undefined, nowMs: number): { timeMs: number; nanos: number } {
  if (time === undefined) return { timeMs: nowMs, nanos: 0 };
  const timeMs = Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1e6);
  if (!(timeMs >= minTimeMs && timeMs <= maxTimeMs)) return { timeMs: nowMs, nanos: 0 };
  return { timeMs, nanos: modulo(time.nanos, 1e6) };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
