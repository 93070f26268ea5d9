/** Charges between two organizations, for tests. */
import type { MessageShape } from '@bufbuild/protobuf';
import type { PlatformError } from '@platform/base';
import type { BillingService } from '@platform/proto/platform/app/v1/billing';
import type { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { expect } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import type { InvoiceMails } from '../invoices/mails.ts';
import { checkLedger } from '../ledger/check-ledger.ts';
import type { PaymentProvider } from '../payments/provider.ts';
import { changeAccount } from '../prices/accounts.ts';
import { billing, invoices, openBilling, prices, type TestBilling } from './open-billing.ts';

type Answer<Name extends keyof typeof BillingService.method> = MessageShape<
  (typeof BillingService.method)[Name]['output']
>;

export interface Asking {
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether the answer reaches the caller. Default true. */
  readonly isDelivered?: boolean;
  /** Default: an owner of the customer. */
  readonly by?: Principal;
}

export const admin: { readonly kind: 'admin'; readonly name: string } = { kind: 'admin', name: 'root' };

/** USD, 30 days to pay; the customer's mails go to bills@example.com. */
export async function openCharges(provider?: PaymentProvider, mails?: InvoiceMails): Promise<TestBilling> {
  const on = await openBilling({ ...(provider && { provider }), ...(mails && { mails }) });
  await billStandard(on, { currency: 'USD', payment_days: 30 });
  return on;
}

/** The customer is billed by a price list with one tier; its mails go to bills@example.com. @param list the rest of the price list */
export async function billStandard(
  on: TestBilling,
  list: { readonly currency: string; readonly payment_days?: number; readonly payment_instructions?: string },
): Promise<void> {
  const tiers = [{ name: 'standard', in_arrears: true, per_machine: '10' }];
  const document = JSON.stringify({ ...list, tiers });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier: 'standard', billingEmail: 'bills@example.com' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
}

export async function attach(on: TestBilling, card: TestCard, confirmAfterSeconds = 0): Promise<void> {
  const organizationId = on.customerId;
  await on.ask(on.owners.customer, invoices.attachTestCard, { organizationId, card, confirmAfterSeconds });
}

export async function charge(
  on: TestBilling,
  more: object = {},
  { metadata, isDelivered, by = on.owners.customer }: Asking = {},
): Promise<Answer<'chargeOrganization'>> {
  const request = { orgIdToCharge: on.customerId, subtotal: 10, tax: 1.9, ...more };
  return await on.ask(by, billing.chargeOrganization, request, metadata, isDelivered);
}

export async function chargeNow(
  on: TestBilling,
  more: object = {},
  { metadata, isDelivered, by = on.owners.customer }: Asking = {},
): Promise<Answer<'createInvoiceAndChargeImmediately'>> {
  const request = { orgIdToCharge: on.customerId, amount: 12.5, ...more };
  return await on.ask(by, billing.createInvoiceAndChargeImmediately, request, metadata, isDelivered);
}

export async function summary(on: TestBilling): Promise<Answer<'getInvoicesSummary'>> {
  return await on.ask(on.owners.customer, billing.getInvoicesSummary, { orgId: on.customerId });
}

export async function expectLedgerInOrder(on: TestBilling): Promise<void> {
  expect((await checkLedger(on.db)).problems).toEqual([]);
}

/** Advances the clock until the call has ended, and returns its result and duration. */
export async function ended(
  on: TestBilling,
  call: Promise<unknown>,
): Promise<{ code: string; message: string; tookMs: number }> {
  const began = on.clock.monotonic();
  let result: { code: string; message: string } | undefined;
  call.then(
    () => {
      result = { code: 'ok', message: '' };
    },
    (caught: PlatformError) => {
      result = { code: caught.code, message: caught.message };
    },
  );
  while (result === undefined) {
    if (on.clock.waiting > 0) await on.clock.advance(250);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...result, tookMs: on.clock.monotonic() - began };
}
