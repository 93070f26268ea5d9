/**
 * Stores lines from many senders in one commit. Waiting lines are written in one transaction, together with the daily totals of their
 * parts; each sender is answered after the commit.
 */
import { chunks, dayMs, getOrInsert, resourceExhausted } from '@platform/base';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import { maxPendingBytes, maxRowsPerCommit } from './limits.ts';
import { bytesOf, type Line } from './line.ts';
import type { MachineLogsDatabase, MachineLogsTables, MachineLogsTransaction } from './store.ts';
import { countSentLogs, type SentLogs } from './usage.ts';

export interface LogAppender {
  /**
   * Resolves after the commit.
   *
   * @param sent the lines that a machine sent, for billing; undefined: the cloud wrote the lines itself
   * @throws resource_exhausted when too many lines are waiting for the disk
   */
  append(lines: readonly Line[], sent?: SentLogs): Promise<void>;
}

interface Waiting {
  readonly lines: readonly Line[];
  readonly bytes: number;
  readonly sent: SentLogs | undefined;
  readonly done: PromiseWithResolvers<void>;
}

/** @param onStored called with lines after their commit. */
export function createLogAppender(db: MachineLogsDatabase, onStored: (lines: readonly Line[]) => void): LogAppender {
  let waiting: Waiting[] = [];
  let pendingBytes = 0;
  let running = false;

  const store = async (batch: readonly Waiting[]): Promise<void> => {
    const lines = batch.flatMap((one) => one.lines);
    try {
      await db.transaction().execute(async (trx) => {
        await insert(trx, lines);
        await countSentLogs(
          trx,
          batch.flatMap(({ lines: some, sent }) =>
            sent === undefined ? [] : [{ ...sent, receivedMs: some[0]?.received_ms ?? 0 }],
          ),
        );
      });
      onStored(lines);
      for (const { done } of batch) done.resolve();
    } catch (caught) {
      for (const { done } of batch) done.reject(caught);
    } finally {
      for (const { bytes } of batch) pendingBytes -= bytes;
    }
  };

  const run = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      const batch = nextBatch(waiting);
      waiting = waiting.slice(batch.length);
      await store(batch);
    }
    running = false;
  };

  return {
    async append(lines, sent) {
      if (lines.length === 0) return;
      const bytes = lines.reduce((sum, line) => sum + bytesOf(line), 0);
      if (pendingBytes + bytes > maxPendingBytes) {
        throw resourceExhausted(
          `machine logs: ${pendingBytes} bytes are waiting for the disk, at most ${maxPendingBytes} are allowed; send again later`,
        );
      }
      pendingBytes += bytes;
      const done = Promise.withResolvers<void>();
      waiting.push({ lines, bytes, sent, done });
      if (!running) void run();
      await done.promise;
    },
  };
}

/** The oldest waiting entries that fit into one commit; an entry that exceeds it is written alone. */
function nextBatch(waiting: readonly Waiting[]): readonly Waiting[] {
  let rows = 0;
  let count = 0;
  for (const { lines } of waiting) {
    rows += lines.length;
    if (count > 0 && rows > maxRowsPerCommit) break;
    count += 1;
  }
  return waiting.slice(0, count);
}

/** The UTC day of a time, counted from 1970. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

async function insert(trx: MachineLogsTransaction, lines: readonly Line[]): Promise<void> {
  for (const some of chunks(lines, rowsPerStatement)) await trx.insertInto('machine_logs').values(some).execute();
  const days = new Map<string, MachineLogsTables['machine_log_days']>();
  for (const line of lines) {
    const day = dayOf(line.received_ms);
    const key = `${line.part_id} ${day}`;
    const sum = getOrInsert(days, key, () => ({ part_id: line.part_id, day, lines: 0, bytes: 0 }));
    sum.lines += 1;
    sum.bytes += bytesOf(line);
  }
  await trx
    .insertInto('machine_log_days')
    .values([...days.values()])
    .onConflict((conflict) =>
      conflict.columns(['part_id', 'day']).doUpdateSet((eb) => ({
        lines: eb('machine_log_days.lines', '+', eb.ref('excluded.lines')),
        bytes: eb('machine_log_days.bytes', '+', eb.ref('excluded.bytes')),
      })),
    )
    .execute();
}
