/**
 * Issues the invoice of a period of an organization, in one transaction with the entry that the period has been billed: a crash loses
 * nothing and bills nothing twice.
 */
import { dayMs } from '@platform/base';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import type { UsageReader } from '../meter/read-usage.ts';
import { divideRounded, one, textOfDecimal } from '../money/decimal.ts';
import { type ChargeDeps, chargeOf } from '../payments/charge-organization.ts';
import { paymentMethodOf } from '../payments/payment-methods.ts';
import type { BilledAs } from '../prices/accounts.ts';
import type { Line } from '../prices/rate.ts';
import { issueInvoice } from './issue-invoice.ts';
import { mailAbout } from './mails.ts';

export interface CloseDeps extends ChargeDeps, UsageReader {
  readonly db: ChargeDeps['db'];
  /** Resolves once all usage before the month's end is counted. @throws unavailable, failed_precondition */
  readonly meteredUntil: (ms: number, signal: AbortSignal) => Promise<void>;
}

export type Customer = BilledAs & { readonly organizationId: string };

export interface Bill {
  readonly kind: 'month' | 'year';
  readonly period: string;
  readonly text: string;
  readonly lines: readonly Line[];
  /** Address of the organization that bills. */
  readonly address: readonly string[];
}

/** @returns the id of the invoice; undefined: nothing is owed, or the period has already been billed */
export async function bill(
  deps: CloseDeps,
  by: Caller | OwnActor,
  customer: Customer,
  given: Bill,
): Promise<string | undefined> {
  const { db, provider, mails, clock } = deps;
  const method = provider.canCharge ? await paymentMethodOf(db, provider, customer.organizationId) : undefined;
  const id = await db.transaction().execute((trx) => billIn(trx, deps, by, customer, given, method?.method));
  mails.wake();
  if (id !== undefined) deps.log.info('an invoice was issued', { invoice: id, period: given.period, at: clock.now() });
  return id;
}

async function billIn(
  trx: DatabaseTransaction,
  deps: CloseDeps,
  by: Caller | OwnActor,
  customer: Customer,
  { kind, period, text, lines, address }: Bill,
  method: string | undefined,
): Promise<string | undefined> {
  const { provider, mails, clock, nameOf } = deps;
  const { organizationId, billerId, tier, billingEmail, list } = customer;
  const nowMs = clock.now();
  const entry = { organization_id: organizationId, period, biller_id: billerId, created_ms: nowMs };
  const added = await trx
    .insertInto('billed_periods')
    .values({ ...entry, invoice_id: null })
    .onConflict((conflict) => conflict.columns(['organization_id', 'period']).doNothing())
    .returning('period')
    .executeTakeFirst();
  const subtotal = lines.reduce((sum, { minor }) => sum + minor, 0n);
  if (added === undefined || subtotal <= 0n) return undefined;
  const { currency, tax: percent, paymentDays, payment } = list.list;
  const { name: branding, supportEmail } = nameOf(billerId);
  const invoice = await issueInvoice(trx, {
    ...{ billerId, organizationId, kind, period, isTest: provider.isTest, currency: currency.code, subtotal },
    tax: divideRounded(subtotal * percent, 100n * one),
    ...{ issuedMs: nowMs, dueMs: nowMs + paymentDays * dayMs },
    document: {
      ...{ description: text, brandingId: billerId, branding, supportEmail, billingEmail, tier },
      ...{ priceListVersion: list.version, customer: nameOf(organizationId).name, biller: branding },
      issuer: { address, payment, taxPercent: textOfDecimal(percent) },
      isCharged: method !== undefined,
      lines: lines.map((line) => ({
        ...{ text: line.text, quantity: line.quantity, unit: line.unit, unitPrice: line.unitPrice },
        minor: Number(line.minor),
      })),
    },
  });
  await trx
    .updateTable('billed_periods')
    .set({ invoice_id: invoice.id })
    .where('organization_id', '=', organizationId)
    .where('period', '=', period)
    .execute();
  if (method !== undefined) await chargeOf(trx, deps, invoice, method, false);
  await mails.enqueue(trx, mailAbout('issued', invoice, ''));
  const detail = { number: invoice.number, total: invoice.total, currency: currency.code, period };
  await audit(trx, by, nowMs, 'InvoiceService.CloseMonth', ['invoice', invoice.id, organizationId], detail);
  return invoice.id;
}
