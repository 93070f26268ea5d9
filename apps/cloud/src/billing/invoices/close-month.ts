/**
 * Issues the invoices of a period: of a month that has ended, for what was used in it, and of a year that has begun, in advance. Each
 * organization's invoice is one transaction with the entry that its period is billed, so a crash in between costs nothing and doubles
 * nothing: the next run goes on with the organizations that are left.
 */
import { PlatformError } from '@platform/base';
import type { Transaction } from 'kysely';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import type { CloudTables } from '../../metadata/tables.ts';
import { readTotals, type UsageReader } from '../meter/read-usage.ts';
import { divideRounded, minorOfDecimal, one, textOfDecimal } from '../money/decimal.ts';
import { type Month, monthOf, nextHourOf } from '../month.ts';
import { type ChargeDeps, chargeOf } from '../payments/charge-organization.ts';
import { paymentMethodOf } from '../payments/payment-methods.ts';
import { accountsOfBiller, type BilledAs, withPrices } from '../prices/accounts.ts';
import { type Line, plain, rate, type Usage } from '../prices/rate.ts';
import { issueInvoice } from './issue-invoice.ts';
import { mailAbout } from './mails.ts';

export interface CloseDeps extends ChargeDeps, UsageReader {
  readonly db: ChargeDeps['db'];
  /** Resolves once all usage before the month's end is counted. @throws unavailable, failed_precondition */
  readonly meteredUntil: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Closed {
  readonly invoiceIds: readonly string[];
  /** Organizations whose period was billed already, or that owe nothing for it. */
  readonly others: number;
}

type Customer = BilledAs & { readonly organizationId: string };

const dayMs = 24 * 3_600_000;

/** @throws failed_precondition if the month has not ended, or is not completely counted */
export async function closeMonth(
  deps: CloseDeps,
  by: Caller | OwnActor,
  billerId: string,
  month: Month,
  signal: AbortSignal,
): Promise<Closed> {
  const { db, clock } = deps;
  if (clock.now() < month.endMs)
    throw new PlatformError(
      'failed_precondition',
      `month: expected one that has ended, found ${month.name}, which ends on ${new Date(month.endMs).toISOString()}`,
    );
  await deps.meteredUntil(month.endMs, signal);
  const accounts = await accountsOfBiller(db, billerId, month.endMs - 1);
  const done = await billedIn(deps, month.name);
  const address = await deps.addressOf(billerId);
  const invoiceIds: string[] = [];
  for (const account of accounts) {
    if (signal.aborted) break;
    if (done.has(account.organizationId)) continue;
    const customer = await withPrices(db, account, month);
    if (!customer.rates.inArrears) continue;
    const usage = await usageOf(deps, customer, month);
    const { lines } = rate(usage, customer.rates, customer.list.list.currency, month.hours);
    const id = await bill(deps, by, customer, {
      kind: 'month',
      period: month.name,
      text: `Usage in ${month.name}`,
      ...{ lines, address },
    });
    if (id !== undefined) invoiceIds.push(id);
  }
  return { invoiceIds, others: accounts.length - invoiceIds.length };
}

/** Issues the invoices of years that have begun, for organizations that are billed annually. */
export async function billYears(deps: CloseDeps, by: OwnActor, billerId: string, signal: AbortSignal): Promise<Closed> {
  const { db, clock } = deps;
  const nowMs = clock.now();
  const month = monthOf(nowMs);
  const accounts = await accountsOfBiller(db, billerId, nowMs);
  const address = await deps.addressOf(billerId);
  const invoiceIds: string[] = [];
  for (const account of accounts) {
    if (signal.aborted) break;
    const customer = await withPrices(db, account, month);
    // The year begins with the month in which billing began.
    const period = `year:${yearBegin(customer.sinceMs, nowMs)}`;
    if (customer.rates.inArrears || (await billedIn(deps, period)).has(customer.organizationId)) continue;
    const fee = minorOfDecimal(customer.rates.annualFee, customer.list.list.currency.exponent);
    const text = `Year from ${period.slice(5)}`;
    const lines = fee === 0n ? [] : [plain('fee', `Annual fee of the tier ${customer.tier}`, fee)];
    const id = await bill(deps, by, customer, { kind: 'year', period, text, lines, address });
    if (id !== undefined) invoiceIds.push(id);
  }
  return { invoiceIds, others: accounts.length - invoiceIds.length };
}

/** YYYY-MM of the last anniversary. */
function yearBegin(sinceMs: number, nowMs: number): string {
  const [since, now] = [monthOf(sinceMs).name, monthOf(nowMs).name];
  const year = Number(now.slice(0, 4)) - (now.slice(5) < since.slice(5) ? 1 : 0);
  return `${year}-${since.slice(5)}`;
}

async function usageOf(deps: CloseDeps, { organizationId, fromMs }: Customer, month: Month): Promise<Usage> {
  return await readTotals(deps, nextHourOf(fromMs), month.endMs, organizationId);
}

async function billedIn({ db }: CloseDeps, period: string): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('billed_periods').select('organization_id').where('period', '=', period).execute();
  return new Set(rows.map(({ organization_id }) => organization_id));
}

interface Bill {
  readonly kind: 'month' | 'year';
  readonly period: string;
  readonly text: string;
  readonly lines: readonly Line[];
  /** Of the organization that bills. */
  readonly address: readonly string[];
}

/** @returns the id of the invoice; undefined: nothing is owed, or the period was billed meanwhile */
async function bill(
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
  trx: Transaction<CloudTables>,
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
