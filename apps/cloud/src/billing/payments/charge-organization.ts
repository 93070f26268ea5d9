/** Charges an organization an amount that one of its owners requested: an invoice, and an attempt to pay it. */
import { dayMs, failedPrecondition, newId, PlatformError } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import { type InvoiceRow, issueInvoice } from '../invoices/issue-invoice.ts';
import { mailAbout } from '../invoices/mails.ts';
import { type Account, accountAt } from '../prices/accounts.ts';
import type { PriceList } from '../prices/price-list.ts';
import { type PriceListVersion, requirePriceList } from '../prices/price-lists.ts';
import type { ChargeRequest } from './charge-request.ts';
import { claimCharge } from './claim-charge.ts';
import { paymentMethodOf } from './payment-methods.ts';
import { providerTimeoutMs, type SettleDeps, settleCharge } from './settle-charge.ts';

export interface ChargeDeps extends SettleDeps {
  /** Name and support address of an organization. */
  readonly nameOf: (organizationId: string) => { readonly name: string; readonly supportEmail: string };
  /** Lines of the postal address of an organization that bills others. */
  readonly addressOf: (organizationId: string) => Promise<readonly string[]>;
}

export interface Biller extends Account {
  readonly address: readonly string[];
  readonly list: PriceListVersion & { readonly list: PriceList };
}

export interface Amounts {
  readonly subtotal: bigint;
  readonly tax: bigint;
  /** Validated. */
  readonly description: string;
  readonly brandingId: string;
  readonly isQuiet: boolean;
}

const waitMs = 120_000;
const askEveryMs = 1_000;

/** @throws failed_precondition if no one bills the organization */
export async function requireBiller({ db, clock, addressOf }: ChargeDeps, organizationId: string): Promise<Biller> {
  const account = await accountAt(db, organizationId, clock.now());
  if (account === undefined)
    throw failedPrecondition(
      `organization ${organizationId}: expected one that is billed, found one without a biller; the host administrator assigns one (platform admin billing assign)`,
    );
  const list = await requirePriceList(db, account.billerId, clock.now());
  return { ...account, list, address: await addressOf(account.billerId) };
}

export interface Charged {
  readonly invoice: InvoiceRow;
  /** The attempt to pay it, if there is one. */
  readonly chargeId: string | undefined;
  /** Takes the record of the answer. Undefined: the answer of an earlier charge is repeated. */
  readonly holder: string | undefined;
}

/**
 * Issues the invoice and, if the organization can be charged, begins to pay it. A request with the key of an earlier one returns what that
 * one charged. An equal request without a key is refused, pays the same invoice, or is a charge of its own (D44).
 *
 * @param mustPay the caller wants it paid now: refused if that is impossible
 * @throws failed_precondition; already_exists for an equal charge
 */
export async function chargeOrganization(
  deps: ChargeDeps,
  by: Caller,
  operation: string,
  organizationId: string,
  biller: Biller,
  amounts: Amounts,
  request: ChargeRequest,
  mustPay: boolean,
): Promise<Charged> {
  const { db, provider, mails, clock } = deps;
  const method = provider.canCharge ? await paymentMethodOf(db, provider, organizationId) : undefined;
  const nowMs = clock.now();
  const result = await db.transaction().execute(async (trx) => {
    const id = newId();
    const claim = await claimCharge(trx, organizationId, request, id, nowMs);
    if (claim.is === 'same') return { invoice: claim.invoice, chargeId: claim.attempt?.id, holder: undefined };
    if (mustPay && method === undefined) throw cannotCharge(deps, organizationId);
    const isAgain = claim.is === 'again';
    const invoice = isAgain
      ? claim.invoice
      : await issue(trx, deps, id, organizationId, biller, amounts, method !== undefined);
    const target = ['invoice', invoice.id, organizationId] as const;
    const detail = { number: invoice.number, total: invoice.total, currency: invoice.currency };
    await audit(trx, by, nowMs, operation, target, isAgain ? { ...detail, isAgain } : detail);
    if (!amounts.isQuiet && method === undefined) await mails.enqueue(trx, mailAbout('issued', invoice, ''));
    const chargeId = method && (await chargeOf(trx, deps, invoice, method.method, amounts.isQuiet));
    return { invoice, chargeId, holder: claim.holder };
  });
  mails.wake();
  return result;
}

function cannotCharge({ provider }: ChargeDeps, organizationId: string): PlatformError {
  return failedPrecondition(
    provider.canCharge
      ? `organization ${organizationId}: expected an attached payment method, found none (platform billing method ${provider.setup === undefined ? 'set' : 'add'})`
      : 'this installation cannot charge immediately: expected a payment provider that can, found "manual", with which the host administrator records payments; ChargeOrganization issues an invoice',
  );
}

/** Waits until the payment is confirmed. @returns failed_precondition if it is declined, deadline_exceeded after two minutes */
export async function waitUntilPaid(
  deps: ChargeDeps,
  { invoice, chargeId, isDerived }: Charged & { readonly chargeId: string; readonly isDerived: boolean },
  beganMs: number,
  signal: AbortSignal,
): Promise<PlatformError | undefined> {
  const { clock } = deps;
  for (;;) {
    const timeoutMs = Math.min(providerTimeoutMs, Math.max(0, beganMs + waitMs - clock.monotonic()));
    const { state, failure } = await settleCharge(deps, chargeId, signal, timeoutMs);
    if (state === 'succeeded') return undefined;
    if (state === 'failed')
      return failedPrecondition(
        `invoice ${invoice.id}: the payment failed: ${failure}; the invoice stays open${isDerived ? ', and an equal charge within 24 hours tries again to pay it' : ''}`,
      );
    const leftMs = beganMs + waitMs - clock.monotonic();
    if (leftMs <= 0)
      return new PlatformError(
        'deadline_exceeded',
        `invoice ${invoice.id}: expected the payment to be confirmed within 2 minutes, found it still pending; it is booked when it is confirmed, and nothing is charged twice`,
      );
    await clock.sleep(Math.min(askEveryMs, leftMs), signal);
  }
}

async function issue(
  trx: DatabaseTransaction,
  { nameOf, provider, clock }: ChargeDeps,
  id: string,
  organizationId: string,
  { billerId, tier, billingEmail, list, address }: Biller,
  { subtotal, tax, description, brandingId }: Amounts,
  isPaidNow: boolean,
): Promise<InvoiceRow> {
  const nowMs = clock.now();
  const { name: branding, supportEmail } = nameOf(brandingId);
  const { currency, paymentDays, payment } = list.list;
  return await issueInvoice(trx, {
    ...{
      id,
      billerId,
      organizationId,
      kind: 'charge',
      isTest: provider.isTest,
      currency: currency.code,
      subtotal,
      tax,
    },
    ...{ issuedMs: nowMs, dueMs: isPaidNow ? nowMs : nowMs + paymentDays * dayMs },
    document: {
      ...{ description, brandingId, branding, supportEmail, billingEmail, tier, priceListVersion: list.version },
      customer: nameOf(organizationId).name,
      biller: nameOf(billerId).name,
      issuer: { address, payment },
      isCharged: isPaidNow,
      lines: [{ text: description || 'Charge', quantity: '', unit: '', unitPrice: '', minor: Number(subtotal) }],
    },
  });
}

/** The attempt that is pending or has succeeded, or a new one. Undefined: nothing is owed. */
export async function chargeOf(
  trx: DatabaseTransaction,
  { provider, clock }: Pick<ChargeDeps, 'provider' | 'clock'>,
  invoice: InvoiceRow,
  method: string,
  isQuiet: boolean,
): Promise<string | undefined> {
  const standing = await trx
    .selectFrom('charges')
    .select('id')
    .where('invoice_id', '=', invoice.id)
    .where('state', '!=', 'failed')
    .executeTakeFirst();
  if (standing !== undefined) return standing.id;
  const minor = invoice.total - invoice.paid;
  if (minor <= 0) return undefined;
  const nowMs = clock.now();
  const row = {
    ...{ id: newId(), invoice_id: invoice.id, provider: provider.name, method, minor, failure: '' },
    ...{ created_ms: nowMs, finished_ms: null, next_ask_ms: nowMs, is_quiet: isQuiet ? 1 : 0, reference: '' },
    state: 'pending' as const,
  };
  await trx.insertInto('charges').values(row).execute();
  return row.id;
}
