/** Bytes of machine logs that each organization uploads and stores, for billing. Lines that the cloud writes itself are not uploads. */
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../../metadata/tables.ts';
import { partPlaces } from '../part-places.ts';
import type { MachineLogsTables } from './store.ts';

const hourMs = 3_600_000;

/** Bytes that a machine sent, and its organization at that time. */
export interface SentLogs {
  readonly organizationId: string;
  readonly bytes: number;
}

/** Must be called in the transaction that stores the lines. @param receivedMs when they arrived */
export async function countSentLogs(
  trx: Transaction<MachineLogsTables>,
  { organizationId, bytes }: SentLogs,
  receivedMs: number,
): Promise<void> {
  const hour = Math.floor(receivedMs / hourMs) * hourMs;
  await trx
    .insertInto('machine_log_usage')
    .values({ organization_id: organizationId, hour, bytes })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'hour']).doUpdateSet((eb) => ({
        bytes: eb('machine_log_usage.bytes', '+', eb.ref('excluded.bytes')),
      })),
    )
    .execute();
}

/** Bytes of log that machines of an organization sent in each hour. Half open: startMs ≤ hour < endMs. */
export async function sentLogs(
  db: Kysely<MachineLogsTables>,
  startMs: number,
  endMs: number,
  organizationId: string,
): Promise<readonly { readonly hour: number; readonly quantity: number }[]> {
  const rows = await db
    .selectFrom('machine_log_usage')
    .select(['hour', 'bytes'])
    .where('organization_id', '=', organizationId)
    .where('hour', '>=', startMs)
    .where('hour', '<', endMs)
    .execute();
  return rows.map(({ hour, bytes }) => ({ hour, quantity: bytes }));
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
