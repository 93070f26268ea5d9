/**
 * Events of a provider. An event books nothing: it makes its subject due, and the settling job asks the provider. So events may arrive in
 * any order, late, twice or not at all. Each is handled once; unknown and unrelated events are only recorded.
 */
import type { Clock } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import type { PaymentProvider } from './provider.ts';

/** Providers repeat an event for a few days. */
const keepMs = 30 * 24 * 3_600_000;

/** @param body as received. @returns false: it was received before. @throws invalid_argument if the signature is invalid */
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
