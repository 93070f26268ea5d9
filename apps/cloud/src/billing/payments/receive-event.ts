/**
 * Events of a provider. An event books nothing: it makes what it is about due, and the job that settles asks the provider. So events may come
 * in any order, late, twice or not at all. Each is handled once; those that are unknown, or about nothing of ours, are only noted.
 */
import type { Clock } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import type { PaymentProvider } from './provider.ts';

/** Providers repeat an event for a few days. */
const keepMs = 30 * 24 * 3_600_000;

/** @param body as it was received. @returns false: it was received before. @throws invalid_argument if the signature does not hold */
export async function receiveEvent(
  { db, provider, clock }: { readonly db: Database; readonly provider: PaymentProvider; readonly clock: Clock },
  body: string,
  signature: string,
): Promise<boolean> {
  const nowMs = clock.now();
  const event = provider.readEvent?.(body, signature, nowMs);
  if (event === undefined) return false;
  const { about } = event;
  return await db.transaction().execute(async (trx) => {
    const added = await trx
      .insertInto('payment_events')
      .values({ provider: provider.name, id: event.id.slice(0, 255), received_ms: nowMs })
      .onConflict((conflict) => conflict.columns(['provider', 'id']).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (added === undefined) return false;
    await trx
      .deleteFrom('payment_events')
      .where('received_ms', '<', nowMs - keepMs)
      .execute();
    if (about.kind === 'charge')
      await trx
        .updateTable('charges')
        .set({ reference: about.reference, next_ask_ms: nowMs })
        .where('id', '=', about.chargeId)
        .where('provider', '=', provider.name)
        .where('state', '=', 'pending')
        .where('reference', 'in', ['', about.reference])
        .execute();
    if (about.kind === 'setup')
      await trx
        .updateTable('payment_setups')
        .set({ next_ask_ms: nowMs })
        .where('session', '=', about.session)
        .where('provider', '=', provider.name)
        .where('state', '=', 'pending')
        .execute();
    return true;
  });
}
