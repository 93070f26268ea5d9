/**
 * Sends reminders for unpaid invoices: 1, 5, 10 and 20 days after they were due. The number of the last step is stored in the invoice and
 * changes in the transaction that sends the mail or begins the payment, so each step happens once, even if there is a crash. A step that is
 * late, because the cloud was down, delays the following ones: the first reminder is never the last one, and each leaves as much time to
 * pay as the schedule says. After the last step the invoice is listed as `unpaid`.
 */
import { dayMs } from '@platform/base';
import { audit, type OwnActor } from '../../access/audit.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import { chargeOf } from '../payments/charge-organization.ts';
import { paymentMethodOf } from '../payments/payment-methods.ts';
import type { SettleDeps } from '../payments/settle-charge.ts';
import { accountAt } from '../prices/accounts.ts';
import type { InvoiceRow } from './issue-invoice.ts';
import { reminderAbout } from './mails.ts';

/** Days from the due date to each step. */
export const dunningDays: readonly number[] = [1, 5, 10, 20];

const actor: OwnActor = { kind: 'platform', name: 'billing' };
const invoicesAtOnce = 100;

/** Whether the last step has been taken without a payment since. */
export function isUnpaid({ state, dunning_step }: Pick<InvoiceRow, 'state' | 'dunning_step'>): boolean {
  return state === 'open' && dunning_step >= dunningDays.length;
}

/** Takes the steps that are due; true: there may be more. An invoice whose payment is in progress waits for the result. */
export async function dunDue(deps: SettleDeps, signal: AbortSignal): Promise<boolean> {
  const { db, clock, mails } = deps;
  const nowMs = clock.now();
  const due = await db
    .selectFrom('invoices')
    .selectAll()
    .where('state', '=', 'open')
    .where(({ eb, or }) =>
      or(
        dunningDays.map((days, step) =>
          eb('dunning_step', '=', step)
            .and('due_ms', '<=', nowMs - days * dayMs)
            .and('dunned_ms', '<=', nowMs - (days - (dunningDays[step - 1] ?? days)) * dayMs),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('charges')
            .select('charges.id')
            .whereRef('charges.invoice_id', '=', 'invoices.id')
            .where('charges.state', '=', 'pending'),
        ),
      ),
    )
    .orderBy('due_ms')
    .limit(invoicesAtOnce)
    .execute();
  for (const invoice of due) {
    if (signal.aborted) return false;
    await db.transaction().execute((trx) => dun(trx, deps, invoice, nowMs));
  }
  if (due.length > 0) mails.wake();
  return due.length === invoicesAtOnce;
}

async function dun(trx: DatabaseTransaction, deps: SettleDeps, before: InvoiceRow, nowMs: number): Promise<void> {
  const { provider, mails } = deps;
  const { id, organization_id: organizationId, kind } = before;
  const [attempt] = await trx
    .selectFrom('charges')
    .select(['state', 'is_quiet'])
    .where('invoice_id', '=', id)
    .orderBy('created_ms', 'desc')
    .limit(1)
    .execute();
  if (attempt?.state === 'pending') return;
  const step = before.dunning_step + 1;
  // The invoice may have been paid or cancelled, or another process on the same database may have taken the step.
  const invoice = await trx
    .updateTable('invoices')
    .set({ dunning_step: step, dunned_ms: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .where('dunning_step', '=', before.dunning_step)
    .returningAll()
    .executeTakeFirst();
  if (invoice === undefined) return;
  // Charges are retried only by their requester; periods are paid by agreement.
  const isPeriod = kind === 'month' || kind === 'year';
  const method = isPeriod && provider.canCharge ? await paymentMethodOf(trx, provider, organizationId) : undefined;
  if (method !== undefined) await chargeOf(trx, deps, invoice, method.method, false);
  else if (attempt?.is_quiet !== 1) {
    const account = await accountAt(trx, organizationId, nowMs);
    await mails.enqueue(trx, reminderAbout(invoice, step, step === dunningDays.length, account?.billingEmail));
  }
  const detail = { number: invoice.number, step, of: dunningDays.length, isCharged: method !== undefined };
  await audit(trx, actor, nowMs, 'InvoiceService.Dun', ['invoice', id, organizationId], detail);
}
