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
  read(
    partId: string,
    options: { levels: readonly string[]; filter: string; limit: number; beforeId?: number },
  ): Promise<readonly StoredLogLine[]>;
  /** Deletes a bounded number of lines past retention; true when there may be more. */
  forget(): Promise<boolean>;
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
            time_ms: entry.time === undefined ? clock.now() : timestampMs(entry.time),
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
    async read(partId, { levels, filter, limit, beforeId }) {
      let query = db.selectFrom('machine_logs').selectAll().where('part_id', '=', partId);
      if (levels.length > 0) query = query.where('level', 'in', levels);
      if (filter !== '') query = query.where((eb) => eb(eb.fn<number>('instr', ['message', eb.val(filter)]), '>', 0));
      if (beforeId !== undefined) query = query.where('id', '<', beforeId);
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
