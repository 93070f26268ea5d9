/** Lines of a part in order of arrival, for triggers. */
import { readLogField } from '@platform/base';
import { detailOf, type StoredLine } from './line.ts';
import type { MachineLogsDatabase } from './store.ts';

export interface ArrivedLine {
  /** Increases in order of arrival. */
  readonly id: number;
  /** When it arrived, wall clock, ms. */
  readonly receivedMs: number;
  readonly level: string;
  readonly message: string;
  /** For a line about a failed delivery: the trigger and target that could not be notified. */
  readonly failure?: { readonly triggerName: string; readonly target: string };
  /** The line in the form that webhooks send (D22). */
  readonly entry: () => {
    readonly host: string;
    readonly level: string;
    readonly time: string;
    readonly logger_name: string;
    readonly message: string;
    readonly caller?: unknown;
    readonly stack?: string;
    readonly fields?: readonly unknown[];
  };
}

/** Id of the newest line, or of the newest that arrived before a time (ms); 0: there is none. */
export async function newestLine(db: MachineLogsDatabase, partId: string, beforeMs?: number): Promise<number> {
  let query = db.selectFrom('machine_logs').select('id').where('part_id', '=', partId);
  if (beforeMs !== undefined) query = query.where('received_ms', '<', beforeMs);
  const row = await query.orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row?.id ?? 0;
}

export async function linesAfter(
  db: MachineLogsDatabase,
  partId: string,
  of: { readonly afterId: number; readonly upToId: number; readonly levels: readonly string[]; readonly limit: number },
): Promise<ArrivedLine[]> {
  const rows = await db
    .selectFrom('machine_logs')
    .selectAll()
    .where('part_id', '=', partId)
    .where('id', '>', of.afterId)
    .where('id', '<=', of.upToId)
    .where('level', 'in', of.levels)
    .orderBy('id')
    .limit(of.limit)
    .execute();
  return rows.map(arrived);
}

const failedDelivery = 'app.trigger.';

function arrived(line: StoredLine): ArrivedLine {
  const { id, level, message, host, logger_name: logger } = line;
  const isFailure = host === 'cloud' && logger.startsWith(failedDelivery);
  return {
    ...{ id, level, message, receivedMs: line.received_ms },
    ...(isFailure && { failure: { triggerName: logger.slice(failedDelivery.length), target: targetIn(line) } }),
    entry() {
      const { caller, stack, fields } = detailOf(line);
      return {
        host,
        level,
        time: new Date(line.time_ms).toISOString(),
        logger_name: logger,
        message,
        ...(caller && { caller }),
        ...(stack !== undefined && { stack }),
        ...(fields && { fields }),
      };
    },
  };
}

function targetIn(line: StoredLine): string {
  const fields = Object.fromEntries((detailOf(line).fields ?? []).flatMap(readLogField));
  return String(fields['url'] ?? fields['target'] ?? '');
}
