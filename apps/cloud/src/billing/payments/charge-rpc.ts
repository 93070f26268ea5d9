/** Charges, payment methods and invoices in the API. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { errorText, invalidArgument, invisibleCharacter } from '@platform/base';
import type { BillingService } from '@platform/proto/platform/app/v1/billing';
import { type InvoiceService, TestCard } from '@platform/proto/platform/billing/v1/billing';
import type { CloudCall, CloudHandlers } from '../../access/principal.ts';
import type { BillingOperationDeps } from '../billing-deps.ts';
import type { CloseDeps } from '../invoices/bill-period.ts';
import { closeMonth } from '../invoices/close-month.ts';
import { sendPaymentRequired } from '../invoices/payment-required.ts';
import { requireInvoice, voidInvoice } from '../invoices/states.ts';
import { invoicesSummary } from '../invoices/summary.ts';
import { minorOfWire } from '../money/wire-amount.ts';
import { monthNamed } from '../month.ts';
import { type InvoicePdfDeps, readInvoicePdf } from '../pdf/read-invoice-pdf.ts';
import type { ChargeAnswers } from './charge-answers.ts';
import { chargeOrganization, requireBiller, waitUntilPaid } from './charge-organization.ts';
import { chargeRequest } from './charge-request.ts';
import { attachTestCard, removePaymentMethod } from './payment-methods.ts';
import { beginSetup } from './payment-setups.ts';
import type { TestMethod } from './provider.ts';

export interface ChargeRpcDeps extends CloseDeps, BillingOperationDeps, InvoicePdfDeps {
  /** Where the set-up page of a payment method leads when it is finished. */
  readonly returnUrlOf: (organizationId: string) => string;
  readonly answers: ChargeAnswers;
}

const maxDescription = 1_000;
const chunkBytes = 64 * 1024;

interface Asked {
  readonly organizationId: string;
  readonly subtotal: readonly [value: number, field: string];
  readonly tax: number;
  readonly description: string | undefined;
  readonly brandingId: string | undefined;
  readonly isQuiet: boolean;
  readonly mustPay: boolean;
}

export function chargeHandlers(deps: ChargeRpcDeps): CloudHandlers<typeof BillingService> {
  const { db, access, answers } = deps;
  const charge = async (call: CloudCall, operation: string, asked: Asked) => {
    const { organizationId, isQuiet, mustPay } = asked;
    access.authorize(call.principal, 'organization.manage', organizationId);
    const description = checkedDescription(asked.description ?? '');
    const biller = await requireBiller(deps, organizationId);
    const brandingId = asked.brandingId || biller.billerId;
    if (brandingId !== biller.billerId) access.authorize(call.principal, 'organization.manage', brandingId);
    const { currency } = biller.list.list;
    const amounts = {
      subtotal: minorOfWire(asked.subtotal[0], currency, asked.subtotal[1], 1n),
      tax: minorOfWire(asked.tax, currency, 'tax', 0n),
      ...{ description, brandingId, isQuiet },
    };
    const equal = [String(amounts.subtotal), String(amounts.tax), description];
    const request = chargeRequest(call, operation, equal, [brandingId, isQuiet]);
    const charged = await chargeOrganization(deps, call, operation, organizationId, biller, amounts, request, mustPay);
    const { holder } = charged;
    /** To be called right before the answer, which names the invoice. */
    const answering = (): void => {
      if (holder === undefined) return;
      call.onAnswered((isDelivered) => {
        if (isDelivered) answers.delivered(organizationId, request.key, holder);
      });
    };
    return { ...charged, isDerived: request.isDerived, answering };
  };
  return {
    async getInvoicesSummary({ orgId }, { principal }) {
      access.authorize(principal, 'organization.manage', orgId);
      return await invoicesSummary(db, orgId);
    },
    async *getInvoicePdf({ id, orgId }, { principal, signal }) {
      access.authorize(principal, 'organization.manage', orgId);
      if (id === '') throw invalidArgument('id: expected the id of an invoice, found none');
      const pdf = await readInvoicePdf(deps, orgId, id);
      for (let from = 0; from < pdf.byteLength && !signal.aborted; from += chunkBytes)
        yield { chunk: pdf.subarray(from, from + chunkBytes) };
    },
    async sendPaymentRequiredEmail({ customerOrgId, billingOwnerOrgId }, call) {
      access.authorize(call.principal, 'organization.manage', billingOwnerOrgId);
      await sendPaymentRequired(deps, call, billingOwnerOrgId, customerOrgId);
      return {};
    },
    async chargeOrganization(request, call) {
      const { invoice, answering } = await charge(call, 'BillingService.ChargeOrganization', {
        ...{ organizationId: request.orgIdToCharge, description: request.description, tax: request.tax },
        subtotal: [request.subtotal, 'subtotal'],
        ...{ brandingId: request.orgIdForBranding, isQuiet: request.disableConfirmationEmail, mustPay: false },
      });
      answering();
      return { invoiceId: invoice.id };
    },
    async createInvoiceAndChargeImmediately(request, call) {
      const beganMs = deps.clock.monotonic();
      const charged = await charge(call, 'BillingService.CreateInvoiceAndChargeImmediately', {
        ...{ organizationId: request.orgIdToCharge, description: request.description, tax: 0 },
        subtotal: [request.amount, 'amount'],
        ...{ brandingId: request.orgIdForBranding, isQuiet: request.disableEmail, mustPay: true },
      });
      const { chargeId } = charged;
      const problem = chargeId && (await waitUntilPaid(deps, { ...charged, chargeId }, beganMs, call.signal));
      charged.answering();
      if (problem) throw problem;
      return { invoiceId: charged.invoice.id };
    },
  };
}

export function invoiceHandlers(deps: ChargeRpcDeps): CloudHandlers<typeof InvoiceService> {
  const { db, access, provider, clock } = deps;
  return {
    async closeMonth({ organizationId, month }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const { invoiceIds, others } = await closeMonth(deps, call, organizationId, monthNamed(month), call.signal);
      return { invoiceIds: [...invoiceIds], others };
    },
    async voidInvoice({ organizationId: billerId, invoiceId, reason }, call) {
      access.authorize(call.principal, 'organization.manage', billerId);
      const checked = checkedDescription(reason);
      const note = await db.transaction().execute(async (trx) => {
        const invoice = await requireInvoice(trx, invoiceId, { billerId });
        return await voidInvoice(trx, call, invoice, checked, clock.now());
      });
      return { creditNoteId: note.id };
    },
    async attachTestCard({ organizationId, card, confirmAfterSeconds }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const method = { card: testCardOf(card), afterMs: confirmAfterSeconds * 1_000 };
      await attachTestCard(db, call, clock.now(), provider, organizationId, method);
      return {};
    },
    async beginPaymentMethodSetup({ organizationId }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const returnUrl = deps.returnUrlOf(organizationId);
      const { url, expiresMs } = await beginSetup(deps, call, organizationId, returnUrl, call.signal);
      return { url, expiresAt: timestampFromMs(expiresMs) };
    },
    async removePaymentMethod({ organizationId }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const { provider: name, method } = await removePaymentMethod(db, call, clock.now(), organizationId);
      if (name === provider.name)
        await provider.setup?.detach(method, call.signal).catch((caught: unknown) => {
          deps.log.warn('a removed payment method is still known to the provider', { error: errorText(caught) });
        });
      return {};
    },
  };
}

function testCardOf(card: TestCard): TestMethod['card'] {
  if (card === TestCard.SUCCEEDS) return 'succeeds';
  if (card === TestCard.DECLINES) return 'declines';
  if (card === TestCard.CONFIRMS_LATE) return 'confirms-late';
  if (card === TestCard.NEVER_CONFIRMS) return 'never-confirms';
  throw invalidArgument(`card: expected a TestCard, found ${card}`);
}

/** Counts code points. */
function checkedDescription(text: string): string {
  const length = [...text].length;
  const unseen = invisibleCharacter(text.slice(0, 2 * maxDescription));
  if (length <= maxDescription && unseen === undefined) return text;
  throw invalidArgument(
    `description: expected at most ${maxDescription} characters without control characters and other invisible characters, found ${unseen === undefined ? '' : `${unseen} in `}${length} characters`,
  );
}
