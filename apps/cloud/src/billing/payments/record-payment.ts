/** A payment received outside the platform, as recorded by the host administrator. */
import { createHash } from 'node:crypto';
import { alreadyExists, type Clock, failedPrecondition, invalidArgument } from '@platform/base';
import { audit, type OwnActor } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import { type InvoiceMails, mailAbout } from '../invoices/mails.ts';
import { bookPayment, requireInvoice } from '../invoices/states.ts';
import { currencyOf } from '../money/currency.ts';
import { decimalOf, minorOfDecimal, one } from '../money/decimal.ts';
import { textOfMinor } from '../money/wire-amount.ts';

export interface ReceivedPayment {
  readonly invoiceId: string;
  /** A decimal number as text, such as 12.50. */
  readonly amount: string;
  /** Such as the number of the transfer: within an invoice, each reference is booked once. */
  readonly reference: string;
}

export interface Recorded {
  readonly invoiceId: string;
  readonly number: string;
  readonly state: string;
  /** Still owed; decimal, in the currency. */
  readonly open: string;
  readonly currency: string;
  /** False: the payment with this reference was recorded before. */
  readonly isNew: boolean;
}

/** @throws not_found; invalid_argument; failed_precondition if the invoice does not owe that much, or its payment is in progress */
export async function recordPayment(
  { db, clock, mails }: { readonly db: Database; readonly clock: Clock; readonly mails: InvoiceMails | undefined },
  by: OwnActor,
  { invoiceId, amount, reference }: ReceivedPayment,
): Promise<Recorded> {
  const nowMs = clock.now();
  const recorded = await db.transaction().execute(async (trx): Promise<Recorded> => {
    const invoice = await requireInvoice(trx, invoiceId, {});
    const currency = currencyOf(invoice.currency, 'currency');
    const decimal = decimalOf(amount, 'amount');
    const minor = minorOfDecimal(decimal, currency.exponent);
    if (minor <= 0n || minor * one !== decimal * 10n ** BigInt(currency.exponent))
      throw invalidArgument(
        `amount: expected an amount above 0 with at most ${currency.exponent} decimals, found ${amount}`,
      );
    const id = createHash('sha256')
      .update(JSON.stringify(['manual', invoiceId, reference]))
      .digest('hex')
      .slice(0, 32);
    const standing = await trx.selectFrom('billing_payments').select('minor').where('id', '=', id).executeTakeFirst();
    if (standing !== undefined && BigInt(standing.minor) !== minor)
      throw alreadyExists(
        `reference ${JSON.stringify(reference)}: expected ${textOfMinor(BigInt(standing.minor), currency)}, as recorded before, found ${amount}`,
      );
    if (standing === undefined) {
      const charge = await trx
        .selectFrom('charges')
        .select('id')
        .where('invoice_id', '=', invoiceId)
        .where('state', '=', 'pending')
        .executeTakeFirst();
      const isBooked = charge === undefined && (await bookPayment(trx, invoice, minor, `payment ${reference}`, nowMs));
      if (!isBooked)
        throw failedPrecondition(
          `invoice ${invoice.number}: expected one that owes at least ${amount} and is not being paid, found ${invoice.state} with ${textOfMinor(BigInt(invoice.total - invoice.paid), currency)} owed`,
        );
      await trx
        .insertInto('billing_payments')
        .values({ id, invoice_id: invoiceId, minor: Number(minor), reference, recorded_ms: nowMs })
        .execute();
      const target = ['invoice', invoiceId, invoice.organization_id] as const;
      await audit(trx, by, nowMs, 'admin.payments.record', target, { amount, reference });
    }
    const after = await requireInvoice(trx, invoiceId, {});
    if (standing === undefined && after.state === 'paid')
      await mails?.enqueue(trx, mailAbout('paid', after, reference));
    return {
      ...{ invoiceId, number: after.number, state: after.state, currency: currency.code },
      open: textOfMinor(after.state === 'void' ? 0n : BigInt(after.total - after.paid), currency),
      isNew: standing === undefined,
    };
  });
  mails?.wake();
  return recorded;
}
