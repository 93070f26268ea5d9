/**
 * Issues an invoice or a credit note: the next number, its content and its ledger lines in the caller's transaction. If that fails, nothing
 * of it remains, and the next document gets the number.
 */

import { newId } from '@platform/base';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import { lockBiller, post } from '../ledger/post.ts';
import type { Line } from '../prices/rate.ts';
import type { BillingTables } from '../store.ts';

export type InvoiceRow = BillingTables['invoices'];

/** Everything that the PDF shows, as it was when the invoice was issued. */
export interface InvoiceDocument {
  readonly description: string;
  readonly customer: string;
  readonly biller: string;
  /** Organization whose name and logo are on it. */
  readonly brandingId: string;
  readonly branding: string;
  readonly supportEmail: string;
  readonly billingEmail: string;
  readonly tier: string;
  readonly priceListVersion: number;
  readonly issuer: Issuer;
  readonly lines: readonly InvoiceLine[];
  /** Whether a card was attached, which is charged at once. Default: false, it is paid by transfer. */
  readonly isCharged?: boolean;
}

/** The organization that bills. */
export interface Issuer {
  /** Lines of its postal address. */
  readonly address: readonly string[];
  /** Payment instructions; empty: none. */
  readonly payment: string;
  /** Absent: the tax was given as an amount. */
  readonly taxPercent?: string;
}

export interface InvoiceLine extends Pick<Line, 'text' | 'quantity' | 'unit' | 'unitPrice'> {
  /** Minor units. */
  readonly minor: number;
}

export interface NewInvoice {
  /** Default: a new one. */
  readonly id?: string;
  readonly billerId: string;
  readonly organizationId: string;
  readonly kind: InvoiceRow['kind'];
  readonly isTest: boolean;
  readonly currency: string;
  /** Minor units; the sum of the lines. */
  readonly subtotal: bigint;
  readonly tax: bigint;
  readonly document: InvoiceDocument;
  readonly period?: string;
  readonly creditsId?: string;
  readonly issuedMs: number;
  readonly dueMs: number;
}

export async function issueInvoice(trx: DatabaseTransaction, given: NewInvoice): Promise<InvoiceRow> {
  const { billerId, organizationId, kind, isTest, currency, subtotal, tax, issuedMs } = given;
  await lockBiller(trx, billerId);
  const { last: sequence } = await trx
    .updateTable('invoice_numbers')
    .set(({ eb }) => ({ last: eb('last', '+', 1) }))
    .where('biller_id', '=', billerId)
    .returning('last')
    .executeTakeFirstOrThrow();
  const total = subtotal + tax;
  // An invoice over 0 owes nothing, and a credit note is settled by the invoice that it credits.
  const isSettled = kind === 'credit_note' || total === 0n;
  const row: InvoiceRow = {
    id: given.id ?? newId(),
    ...{ biller_id: billerId, organization_id: organizationId, sequence, kind, currency },
    number: `${isTest ? 'TEST' : 'INV'}-${String(sequence).padStart(6, '0')}`,
    is_test: isTest ? 1 : 0,
    ...{ subtotal: Number(subtotal), tax: Number(tax), total: Number(total) },
    document: JSON.stringify(given.document),
    period: given.period ?? '',
    credits_id: given.creditsId ?? null,
    ...{ issued_ms: issuedMs, due_ms: given.dueMs },
    state: isSettled ? 'paid' : 'open',
    paid: isSettled ? Number(total) : 0,
    paid_ms: isSettled ? issuedMs : null,
    ...{ failure: '', failure_ms: null, dunning_step: 0, dunned_ms: 0 },
  };
  await trx.insertInto('invoices').values(row).execute();
  await post(trx, {
    ...{ billerId, organizationId, currency, atMs: issuedMs },
    invoiceId: given.creditsId ?? row.id,
    text: row.number,
    amounts: [
      ['receivable', total],
      ['revenue', -subtotal],
      ['tax', -tax],
    ],
  });
  return row;
}
