/** Logs of machines: append, read, and forget after 30 days (D29). */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock, LogLevel } from '@platform/base';
import type { LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { Database } from '../metadata/tables.ts';

const retentionMs = 30 * 86_400_000;
const maxMessageLength = 16_384;

export interface CloudLogLine {
  readonly level: LogLevel;
  readonly loggerName: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface MachineLogs {
  /** Lines that a machine shipped. */
  append(partId: string, entries: readonly LogEntry[]): Promise<void>;
  /** A line that the cloud writes into a machine's log (failed deliveries, refused readings). */
  appendOwn(partId: string, line: CloudLogLine): Promise<void>;
  /** Newest first. */
  read(partId: string, options: ReadLogsOptions): Promise<readonly StoredLogLine[]>;
  /** Deletes a bounded number of lines past retention; true when there may be more. */
  forget(): Promise<boolean>;
}

export interface ReadLogsOptions {
  /** In lower case; empty: all. */
  readonly levels: readonly string[];
  /** Text that the message contains; empty: any. */
  readonly filter: string;
  /** At least 1. */
  readonly limit: number;
  /** Lines before this one only: the id of the last line of an earlier answer. */
  readonly beforeId?: number;
  /** Lines of this time and later, ms. */
  readonly startMs?: number;
  /** Lines before this time, ms. */
  readonly endMs?: number;
}

export interface StoredLogLine {
  readonly id: number;
  readonly entry: MessageInitShape<typeof LogEntrySchema>;
}

export function createMachineLogs(deps: { db: Database; clock: Clock }): MachineLogs {
  const { db, clock } = deps;
  return {
    async append(partId, entries) {
      if (entries.length === 0) return;
      await db
        .insertInto('machine_logs')
        .values(
          entries.map((entry) => ({
            part_id: partId,
            time_ms: timeOf(entry, clock.now()),
            level: entry.level.toLowerCase(),
            logger_name: entry.loggerName,
            host: entry.host,
            message: entry.message.slice(0, maxMessageLength),
            detail: JSON.stringify({
              caller: entry.caller,
              stack: entry.stack.slice(0, maxMessageLength),
              fields: entry.fields,
            }),
          })),
        )
        .execute();
    },
    async appendOwn(partId, line) {
      await db
        .insertInto('machine_logs')
        .values({
          part_id: partId,
          time_ms: clock.now(),
          level: line.level,
          logger_name: line.loggerName,
          host: 'cloud',
          message: line.message.slice(0, maxMessageLength),
          detail: JSON.stringify({ fields: line.fields === undefined ? [] : [line.fields] }),
        })
        .execute();
    },
    async read(partId, { levels, filter, limit, beforeId, startMs, endMs }) {
      let query = db.selectFrom('machine_logs').selectAll().where('part_id', '=', partId);
      if (levels.length > 0) query = query.where('level', 'in', levels);
      if (filter !== '') query = query.where((eb) => eb(eb.fn<number>('instr', ['message', eb.val(filter)]), '>', 0));
      if (beforeId !== undefined) query = query.where('id', '<', beforeId);
      if (startMs !== undefined) query = query.where('time_ms', '>=', startMs);
      if (endMs !== undefined) query = query.where('time_ms', '<', endMs);
      const rows = await query.orderBy('id', 'desc').limit(limit).execute();
      return rows.map((row) => {
        const detail = JSON.parse(row.detail);
        return {
          id: row.id,
          entry: {
            host: row.host,
            level: row.level,
            time: timestampFromMs(row.time_ms),
            loggerName: row.logger_name,
            message: row.message,
            stack: detail.stack ?? '',
            fields: detail.fields ?? [],
            ...(detail.caller === undefined ? {} : { caller: detail.caller }),
          },
        };
      });
    },
    async forget() {
      const old = await db
        .selectFrom('machine_logs')
        .select('id')
        .where('time_ms', '<', clock.now() - retentionMs)
        .limit(1_000)
        .execute();
      if (old.length === 0) return false;
      await db
        .deleteFrom('machine_logs')
        .where(
          'id',
          'in',
          old.map((row) => row.id),
        )
        .execute();
      return old.length === 1_000;
    },
  };
}

// Year 1 to 9999, the range of google.protobuf.Timestamp.
const minTimeMs = -62_135_596_800_000;
const maxTimeMs = 253_402_300_799_999;

/** A time that no calendar knows counts as now: it could be stored, but not be read back, and would never be forgotten. */
function timeOf({ time }: LogEntry, nowMs: number): number {
  const ms = time === undefined ? nowMs : timestampMs(time);
  return ms >= minTimeMs && ms <= maxTimeMs ? ms : nowMs;
}
