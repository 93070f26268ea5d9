/**
 * States of an invoice, and the only functions that change them:
 *
 *     (issued) → open → paid   the paid amount reaches the total (`bookPayment`)
 *                open → void   a credit note over the total, if nothing was paid and no payment is in progress (`voidInvoice`)
 *
 * An open invoice counts its reminders after the due date (dunning.ts); after the last one it is listed as `unpaid`.
 *
 * An invoice over 0 and a credit note are paid when they are issued. `paid` and `void` are final. A failed payment leaves an invoice open,
 * with the reason (`bookFailure`).
 */
import { failedPrecondition, notFound } from '@platform/base';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import { requireIntactSet } from '../../metadata/row-checks/require-complete.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database, DatabaseTransaction } from '../../metadata/tables.ts';
import { lockBiller, post } from '../ledger/post.ts';
import { invoices } from '../store.ts';
import { type InvoiceDocument, type InvoiceRow, issueInvoice } from './issue-invoice.ts';

/** @throws not_found, with the same message for another organization's invoice and an unknown one */
export async function requireInvoice(
  trx: Database,
  id: string,
  of: { readonly organizationId?: string; readonly billerId?: string },
): Promise<InvoiceRow> {
  const row = await trx.selectFrom('invoices').selectAll().where('id', '=', id).executeTakeFirst();
  const isOf =
    row !== undefined &&
    (of.organizationId === undefined || row.organization_id === of.organizationId) &&
    (of.billerId === undefined || row.biller_id === of.billerId);
  if (isOf) {
    requireRight(invoices, [row]);
    return row;
  }
  // It could be the missing one.
  if (of.organizationId !== undefined) await requireIntactSet(trx, invoices, of.organizationId);
  throw notFound(`invoice ${JSON.stringify(id.slice(0, 80))}: expected one of the organization, found none`);
}

/** @returns false: the invoice no longer owes that much; nothing was booked */
export async function bookPayment(
  trx: DatabaseTransaction,
  invoice: InvoiceRow,
  minor: bigint,
  text: string,
  nowMs: number,
): Promise<boolean> {
  await lockBiller(trx, invoice.biller_id);
  const paid = Number(minor);
  const changed = await trx
    .updateTable('invoices')
    .set(({ eb }) => ({ paid: eb('paid', '+', paid) }))
    .where('id', '=', invoice.id)
    .where('state', '=', 'open')
    .where(({ eb }) => eb(eb('paid', '+', paid), '<=', eb.ref('total')))
    .returning(['paid', 'total'])
    .executeTakeFirst();
  if (changed === undefined) return false;
  if (changed.paid === changed.total)
    await trx.updateTable('invoices').set({ state: 'paid', paid_ms: nowMs }).where('id', '=', invoice.id).execute();
  await post(trx, {
    ...{ billerId: invoice.biller_id, organizationId: invoice.organization_id, invoiceId: invoice.id },
    ...{ currency: invoice.currency, atMs: nowMs, text },
    amounts: [
      ['cash', minor],
      ['receivable', -minor],
    ],
  });
  return true;
}

export async function bookFailure(
  trx: DatabaseTransaction,
  invoiceId: string,
  failure: string,
  nowMs: number,
): Promise<void> {
  await trx.updateTable('invoices').set({ failure, failure_ms: nowMs }).where('id', '=', invoiceId).execute();
}

/** @throws failed_precondition. @returns the credit note */
export async function voidInvoice(
  trx: DatabaseTransaction,
  by: Caller | OwnActor,
  invoice: InvoiceRow,
  reason: string,
  nowMs: number,
): Promise<InvoiceRow> {
  await lockBiller(trx, invoice.biller_id);
  const pending = await trx
    .selectFrom('charges')
    .select('id')
    .where('invoice_id', '=', invoice.id)
    .where('state', '=', 'pending')
    .executeTakeFirst();
  if (pending !== undefined)
    throw failedPrecondition(`invoice ${invoice.number}: expected no payment under way, found one`);
  const voided = await trx
    .updateTable('invoices')
    .set({ state: 'void' })
    .where('id', '=', invoice.id)
    .where('state', '=', 'open')
    .where('paid', '=', 0)
    .returning('id')
    .executeTakeFirst();
  if (voided === undefined)
    throw failedPrecondition(
      `invoice ${invoice.number}: expected an open one without payments, found ${invoice.state} with ${invoice.paid} of ${invoice.total} minor units paid`,
    );
  const document: InvoiceDocument = JSON.parse(invoice.document);
  const note = await issueInvoice(trx, {
    ...{ billerId: invoice.biller_id, organizationId: invoice.organization_id, kind: 'credit_note' },
    ...{ isTest: invoice.is_test === 1, currency: invoice.currency, creditsId: invoice.id },
    ...{ subtotal: BigInt(-invoice.subtotal), tax: BigInt(-invoice.tax), issuedMs: nowMs, dueMs: nowMs },
    document: {
      ...document,
      description: reason,
      lines: [
        { text: `Credit for ${invoice.number}`, quantity: '', unit: '', unitPrice: '', minor: -invoice.subtotal },
      ],
    },
  });
  const target = ['invoice', invoice.id, invoice.biller_id] as const;
  await audit(trx, by, nowMs, 'InvoiceService.VoidInvoice', target, { creditNote: note.number, reason });
  return note;
}
