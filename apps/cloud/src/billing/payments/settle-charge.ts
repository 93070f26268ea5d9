/**
 * Completes attempts to pay. States of a charge: pending → succeeded | failed, both final. The first caller to get an outcome from the
 * provider records it; later and repeated answers change nothing, so an invoice is paid once. If a provider fails or is slow, the charge
 * stays pending and the provider is asked again: after 5 s, then at growing intervals of at most an hour, without limit.
 */
import { type ClockAndLog, errorText } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import { type InvoiceMails, mailAbout } from '../invoices/mails.ts';
import { bookFailure, bookPayment, requireInvoice } from '../invoices/states.ts';
import type { BillingTables } from '../store.ts';
import { nextPollMs } from './poll-delay.ts';
import type { Outcome, PaymentProvider } from './provider.ts';
import { withDeadline } from './with-deadline.ts';

export type ChargeRow = BillingTables['charges'];

export interface SettleDeps extends ClockAndLog {
  readonly db: Database;
  readonly provider: PaymentProvider;
  readonly mails: InvoiceMails;
}

/** How long a provider may take to answer. */
export const providerTimeoutMs = 15_000;
const chargesAtOnce = 100;
/** Charges that the provider is asked about concurrently, so that one without an answer does not hold up the others. */
const lanes = 8;

/** Returns the charge afterwards. @param id of any charge. @param timeoutMs how long the provider may take */
export async function settleCharge(
  deps: SettleDeps,
  id: string,
  signal: AbortSignal,
  timeoutMs: number = providerTimeoutMs,
): Promise<ChargeRow> {
  const { db, provider, clock, log } = deps;
  const row = await db.selectFrom('charges').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  // A charge of another provider waits until that one is configured again.
  if (row.state !== 'pending' || row.provider !== provider.name) return row;
  const invoice = await db
    .selectFrom('invoices')
    .select('currency')
    .where('id', '=', row.invoice_id)
    .executeTakeFirstOrThrow();
  const charge = {
    ...{ id, invoiceId: row.invoice_id, minor: BigInt(row.minor), currency: invoice.currency, method: row.method },
    ...{ createdMs: row.created_ms, reference: row.reference },
  };
  let outcome: Outcome = { kind: 'unknown' };
  try {
    outcome =
      (await withDeadline(clock, timeoutMs, signal, (ended) => provider.settle(charge, clock.now(), ended))) ?? outcome;
  } catch (caught) {
    log.warn('a payment provider did not answer; asking again later', { charge: id, error: errorText(caught) });
  }
  if (outcome.kind !== 'unknown') return await finish(deps, row, outcome);
  await db
    .updateTable('charges')
    .set({
      next_ask_ms: nextPollMs(row.created_ms, clock.now()),
      ...(outcome.reference !== undefined && { reference: outcome.reference }),
    })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .execute();
  return row;
}

/** Settles charges that are due; true: there may be more. */
export async function settleDue(deps: SettleDeps, signal: AbortSignal): Promise<boolean> {
  const { db, provider, clock } = deps;
  const due = await db
    .selectFrom('charges')
    .select('id')
    .where('state', '=', 'pending')
    .where('provider', '=', provider.name)
    .where('next_ask_ms', '<=', clock.now())
    .orderBy('next_ask_ms')
    .limit(chargesAtOnce)
    .execute();
  const isMore = due.length === chargesAtOnce;
  const settleInTurn = async (): Promise<void> => {
    for (let next = due.shift(); next !== undefined && !signal.aborted; next = due.shift())
      await settleCharge(deps, next.id, signal);
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, settleInTurn));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return isMore && !signal.aborted;
}

async function finish(
  { db, provider, mails, clock }: SettleDeps,
  { id, invoice_id, minor, is_quiet }: ChargeRow,
  outcome: Exclude<Outcome, { kind: 'unknown' }>,
): Promise<ChargeRow> {
  const nowMs = clock.now();
  const row = await db.transaction().execute(async (trx) => {
    const failure = outcome.kind === 'failed' ? outcome.reason.slice(0, 500) : '';
    const changed = await trx
      .updateTable('charges')
      .set({ state: outcome.kind, failure, finished_ms: nowMs })
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined)
      return await trx.selectFrom('charges').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const invoice = await requireInvoice(trx, invoice_id, {});
    if (outcome.kind === 'succeeded')
      await bookPayment(trx, invoice, BigInt(minor), `payment (${provider.name})`, nowMs);
    else await bookFailure(trx, invoice_id, failure, nowMs);
    if (is_quiet === 0)
      await mails.enqueue(trx, mailAbout(outcome.kind === 'succeeded' ? 'paid' : 'failed', invoice, id, failure));
    return changed;
  });
  mails.wake();
  return row;
}
