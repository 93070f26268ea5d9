/** A stored log line, and its conversion from and to messages. Pure. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type LogLevel, zapFields } from '@platform/base';
import type { LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { Selectable } from 'kysely';
import { maxFieldsLength, maxMessageLength, maxNameLength, maxStackLength } from './limits.ts';
import type { MachineLogsTables } from './store.ts';

export type StoredLine = Selectable<MachineLogsTables['machine_logs']>;
/** What filters match and log entries are built from. */
export type Line = Omit<StoredLine, 'id'>;

/** A line that the cloud writes into a machine's log. */
export interface CloudLogLine {
  readonly level: LogLevel;
  readonly loggerName: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The content of `detail`; absent fields have no value. */
export interface LineDetail {
  readonly caller?: JsonObject;
  readonly stack?: string;
  readonly fields?: readonly JsonObject[];
  /** Meant for users of the machine, not for developers. */
  readonly userFacing?: true;
  /** Nanoseconds within the millisecond. */
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

/** Lines that the cloud writes into a machine's log are meant for users. */
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

/** Public clients written in Go read the caller's fields without checking that they exist. */
const unknownCaller = { Defined: false, File: '', Line: 0, Function: '' };

export function detailOf(line: Line): LineDetail {
  return JSON.parse(line.detail) as LineDetail;
}

/** Approximate size of the line on disk. */
export function bytesOf(line: Line): number {
  return (
    64 +
    [line.level, line.logger_name, line.host, line.message, line.detail].reduce(
      (sum, one) => sum + Buffer.byteLength(one),
      0,
    )
  );
}

/** Maps the spellings of all loggers to one name for each level. */
export function levelName(level: string): string {
  const lower = level.toLowerCase();
  return aliases.get(lower) ?? lower;
}

const aliases: ReadonlyMap<string, string> = new Map([
  ['warning', 'warn'],
  ['err', 'error'],
  ['information', 'info'],
]);

/** `{"user_facing": true}`, or the form in which public machine servers send a field: with separate key, type and value. */
function saysUserFacing(field: JsonObject): boolean {
  if (field['user_facing'] === true) return true;
  if (field['Key'] !== 'user_facing') return false;
  return field['Integer'] === 1 || field['Interface'] === true || field['String'] === 'true';
}

/** Truncates the text and replaces characters that a text column cannot hold. */
function text(value: string, maxLength: number): string {
  return value.slice(0, maxLength).toWellFormed().replaceAll('\0', '\ufffd');
}

// Year 1 to 9999, the range of google.protobuf.Timestamp.
const minTimeMs = -62_135_596_800_000;
const maxTimeMs = 253_402_300_799_999;

/** A time outside this range is replaced by the current time: it could be stored, but not read back. */
function timeOf(time: Timestamp | undefined, nowMs: number): { timeMs: number; nanos: number } {
  if (time === undefined) return { timeMs: nowMs, nanos: 0 };
  const timeMs = Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1e6);
  if (!(timeMs >= minTimeMs && timeMs <= maxTimeMs)) return { timeMs: nowMs, nanos: 0 };
  return { timeMs, nanos: modulo(time.nanos, 1e6) };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
