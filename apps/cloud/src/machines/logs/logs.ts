/** Machine logs (D29): append within each part's allowance, read by page, follow live, delete after 30 days. */
import { type Clock, errorText, type Log } from '@platform/base';
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import type { Database, DatabaseTransaction } from '../../metadata/tables.ts';
import { createLogAppender, dayOf } from './append.ts';
import { countedReads } from './counted-reads.ts';
import type { LogFilter } from './filter.ts';
import { bytesOf, type CloudLogLine, type Line, lineOf, ownLineOf } from './line.ts';
import { type ArrivedLine, linesAfter, newestLine } from './lines-by-arrival.ts';
import { pruneLogs, removeLogs } from './prune-logs.ts';
import { type Allowance, type LeftOut, LogQuota, ownAllowance } from './quota.ts';
import { type LogPage, type LogPageRequest, readLogPage } from './read.ts';
import { type SentPosition, SentPositions } from './sent-positions.ts';
import { createTails, type Tail } from './tail.ts';

export type { CloudLogLine } from './line.ts';

export interface MachineLogs {
  /**
   * Appends lines that a machine sent, except those that it has sent before. Lines beyond its allowance are dropped and counted, and the
   * log reports how many.
   */
  append(partId: string, entries: readonly LogEntry[], position?: SentPosition): Promise<void>;
  /**
   * Appends a line that the cloud writes into a machine's log (failed deliveries, refused readings). Never rejects: a line that cannot
   * be stored goes to the cloud's own log.
   */
  appendOwn(partId: string, line: CloudLogLine): Promise<void>;
  read(request: LogPageRequest): Promise<LogPage>;
  /** Lines of a part by their arrival, for triggers. */
  newest(partId: string): Promise<number>;
  /** Id of the newest line that arrived before a time (ms); 0: there is none. */
  lastBefore(partId: string, beforeMs: number): Promise<number>;
  after(partId: string, of: Parameters<typeof linesAfter>[2]): Promise<ArrivedLine[]>;
  /** Follows lines from now on. @throws resource_exhausted */
  tail(partId: string, matches: LogFilter): Tail;
  /** Must be called in the transaction that deletes a part: its lines are deleted soon after (D29). */
  removePart(trx: DatabaseTransaction, partId: string): Promise<void>;
  /** Deletes a bounded number of lines that are past retention or belong to deleted parts. Returns true if there may be more. */
  forget(): Promise<boolean>;
  /** Logs how many lines of each part were dropped since the last report. Always returns false: one pass is enough. */
  tellLeftOut(): Promise<boolean>;
}

export function createMachineLogs(deps: {
  db: Database;
  clock: Clock;
  log: Log;
  /** Read for each line. */
  allowanceOf: (partId: string) => Allowance;
  /** Organization to which the usage of a part's lines belongs; undefined: the part was deleted. */
  organizationOf: (partId: string) => string | undefined;
  /** Called with the bytes of the lines that readers get, for billing. */
  onSent: (partId: string, bytes: number) => void;
}): MachineLogs {
  const { db, clock, log, allowanceOf, organizationOf } = deps;
  const tails = createTails(clock);
  const appender = createLogAppender(db, (lines) => tails.publish(lines));
  const quotas = new Map<string, Promise<LogQuota>>();
  const ownQuotas = new Map<string, LogQuota>();
  const positions = new SentPositions();

  const loadQuota = async (partId: string): Promise<LogQuota> => {
    const day = dayOf(clock.now());
    const row = await db
      .selectFrom('machine_log_days')
      .select('bytes')
      .where('part_id', '=', partId)
      .where('day', '=', day)
      .executeTakeFirst();
    return new LogQuota(() => allowanceOf(partId), clock.monotonic(), day, row?.bytes ?? 0);
  };
  const quotaOf = (partId: string): Promise<LogQuota> => {
    const known = quotas.get(partId);
    if (known !== undefined) return known;
    const loading = loadQuota(partId);
    quotas.set(partId, loading);
    // After a failed read, try again with the next lines.
    loading.catch(() => quotas.delete(partId));
    return loading;
  };
  const admitted = (quota: LogQuota, line: Line): boolean =>
    quota.admits(line.level, bytesOf(line), clock.monotonic(), dayOf(line.received_ms));
  const summary = (partId: string, quota: LogQuota): Line[] => {
    const leftOut = quota.takeLeftOut(clock.monotonic());
    return leftOut === undefined ? [] : [ownLineOf(partId, leftOutLine(leftOut), clock.now())];
  };

  return {
    append: (partId, entries, position) =>
      positions.once(partId, position, entries, async (fresh) => {
        if (fresh.length === 0) return;
        const quota = await quotaOf(partId);
        const nowMs = clock.now();
        const lines = fresh.map((entry) => lineOf(partId, entry, nowMs)).filter((line) => admitted(quota, line));
        const organizationId = lines.length === 0 ? undefined : organizationOf(partId);
        await appender.append(
          [...lines, ...summary(partId, quota)],
          organizationId === undefined
            ? undefined
            : { organizationId, bytes: lines.reduce((sum, line) => sum + bytesOf(line), 0) },
        );
      }),
    async appendOwn(partId, line) {
      const quota = ownQuotas.get(partId) ?? new LogQuota(() => ownAllowance, clock.monotonic(), dayOf(clock.now()), 0);
      ownQuotas.set(partId, quota);
      const own = ownLineOf(partId, line, clock.now());
      await appender
        .append([...(admitted(quota, own) ? [own] : []), ...summary(partId, quota)])
        .catch((caught: unknown) => {
          const { message, fields } = line;
          log.error('a line was not written to the log of a machine', {
            partId,
            message,
            ...fields,
            error: errorText(caught),
          });
        });
    },
    newest: (partId) => newestLine(db, partId),
    lastBefore: (partId, beforeMs) => newestLine(db, partId, beforeMs),
    after: (partId, of) => linesAfter(db, partId, of),
    ...countedReads({ read: (request) => readLogPage(db, clock, request), tail: tails.open }, deps.onSent),
    removePart: (trx, partId) => removeLogs(trx, partId),
    forget: () => pruneLogs(db, clock.now()),
    async tellLeftOut() {
      const lines: Line[] = [];
      for (const [partId, loading] of quotas) {
        const quota = await loading.catch(() => undefined);
        if (quota === undefined) continue;
        lines.push(...summary(partId, quota));
        if (quota.isIdle(clock.monotonic())) quotas.delete(partId);
      }
      for (const [partId, quota] of ownQuotas) {
        lines.push(...summary(partId, quota));
        if (quota.isIdle(clock.monotonic())) ownQuotas.delete(partId);
      }
      await appender.append(lines);
      return false;
    },
  };
}

function leftOutLine({ lines, bytes, allowance, allowed }: LeftOut): CloudLogLine {
  const { linesPerMinute, bytesPerMinute, bytesPerDay } = allowed;
  const limit =
    allowance === 'day'
      ? `${bytesPerDay} bytes a day (UTC)`
      : `${linesPerMinute} lines or ${bytesPerMinute} bytes a minute`;
  const message = `${lines} log ${lines === 1 ? 'line' : 'lines'} (${bytes} bytes) dropped: this machine logs more than ${limit}; the last tenth is reserved for warnings and errors`;
  return { level: 'warn', loggerName: 'cloud.logs', message, fields: { lines, bytes } };
}
