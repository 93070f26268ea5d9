/** Bytes of machine logs that each organization uploads and stores, for billing. Lines that the cloud writes itself are not uploads. */
import { chunks, getOrInsert, hourMs } from '@platform/base';
import { readProvenHours } from '../../metadata/row-checks/read-proven-hours.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import { partPlaces } from '../part-places.ts';
import { logUsage, type MachineLogsDatabase, type MachineLogsTables, type MachineLogsTransaction } from './store.ts';

/** Bytes that a machine sent, and its organization at that time. */
export interface SentLogs {
  readonly organizationId: string;
  readonly bytes: number;
}

/** Must be called in the transaction that stores the lines. @param sent with the time when they arrived */
export async function countSentLogs(
  trx: MachineLogsTransaction,
  sent: readonly (SentLogs & { readonly receivedMs: number })[],
): Promise<void> {
  // Each row changes once, however many machines sent lines.
  const counts = new Map<string, MachineLogsTables['machine_log_usage']>();
  for (const { organizationId, bytes, receivedMs } of sent) {
    const hour = Math.floor(receivedMs / hourMs) * hourMs;
    const key = `${hour} ${organizationId}`;
    getOrInsert(counts, key, () => ({ organization_id: organizationId, hour, bytes: 0 })).bytes += bytes;
  }
  for (const some of chunks([...counts.values()], rowsPerStatement))
    await trx
      .insertInto('machine_log_usage')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'hour']).doUpdateSet((eb) => ({
          bytes: eb('machine_log_usage.bytes', '+', eb.ref('excluded.bytes')),
        })),
      )
      .execute();
}

/**
 * Bytes of log that machines of an organization sent in each hour. Half open: startMs ≤ hour < endMs.
 *
 * @throws data_loss when one was altered, or rows of its days are missing
 */
export async function sentLogs(
  db: MachineLogsDatabase,
  startMs: number,
  endMs: number,
  organizationId: string,
): Promise<readonly { readonly hour: number; readonly quantity: number }[]> {
  const rows = await readProvenHours(db, logUsage, organizationId, startMs, endMs);
  return rows.map(([, hour, bytes]) => ({ hour: Number(hour), quantity: Number(bytes) }));
}

/** Bytes of logs that are kept. Logs of a deleted machine are not charged, although they are removed a little later (D29). */
export async function storedLogs(
  db: Database,
): Promise<readonly { readonly organizationId: string; readonly quantity: number }[]> {
  const rows = await db
    .selectFrom('machine_log_days')
    .innerJoin(partPlaces(db).as('place'), 'place.part_id', 'machine_log_days.part_id')
    .select(({ fn }) => ['place.organization_id', fn.sum<number | string>('machine_log_days.bytes').as('bytes')])
    .groupBy('place.organization_id')
    .execute();
  return rows.map(({ organization_id, bytes }) => ({ organizationId: organization_id, quantity: Number(bytes) }));
}
