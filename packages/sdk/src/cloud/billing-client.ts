/** The billing client: the usage, debts, payments and charges of an organization. Only an owner of the organization may call it. */
import {
  type BillingService,
  type GetCurrentMonthUsageResponse,
  type GetInvoicePdfResponse,
  type GetInvoicesSummaryResponse,
  type GetOrgBillingInformationResponse,
  type UsageCostType,
  UsageCostTypeSchema,
} from '@platform/proto/platform/app/v1/billing';
import type { Client } from '@platform/rpc/client';
import { type SaveOptions, saveFile } from './save-file.ts';

export interface BillingCallOptions {
  /** Time limit of the call, in seconds. Default: that of the connection. */
  readonly timeout?: number;
}

export interface PdfOptions extends BillingCallOptions, SaveOptions {}

export interface ChargeOptions extends BillingCallOptions {
  /**
   * Idempotency key: for 24 hours, requests with the same key are one charge and get the same answer. Default: none; a charge with the
   * amounts and the description of one that is pending, whose answer was lost within 24 hours, or that was answered less than two minutes
   * ago throws already_exists, which names the invoice. If the payment of that one failed, its invoice is paid.
   */
  readonly idempotencyKey?: string;
}

export interface ImmediateCharge {
  readonly orgIdToCharge: string;
  /** In dollars if the price list is in dollars, otherwise in the currency that `getOrgBillingInformation` names. */
  readonly amount: number;
  readonly description?: string;
  /** The name on the invoice. Default: that of the organization that bills. */
  readonly orgIdForBranding?: string;
  readonly disableEmail: boolean;
}

export interface OrganizationCharge {
  readonly orgIdToCharge: string;
  /** In dollars if the price list is in dollars, otherwise in the currency that `getOrgBillingInformation` names; without tax. */
  readonly subtotal: number;
  /** Added to the subtotal. */
  readonly tax: number;
  /** Text on the invoice; at most 1000 characters. */
  readonly description?: string;
  readonly orgIdForBranding?: string;
  readonly disableConfirmationEmail: boolean;
}

/** Each call throws a PlatformError with a gRPC code. */
export interface BillingClient {
  /** Only for organizations that are billed monthly in arrears; others: failed_precondition. */
  getCurrentMonthUsage(orgId: string, options?: BillingCallOptions): Promise<GetCurrentMonthUsageResponse>;
  getOrgBillingInformation(orgId: string, options?: BillingCallOptions): Promise<GetOrgBillingInformationResponse>;
  /** Invoices, newest first, and the outstanding balance. */
  getInvoicesSummary(orgId: string, options?: BillingCallOptions): Promise<GetInvoicesSummaryResponse>;
  /**
   * Saves the PDF of an invoice as the file `dest`, completely or not at all; in a browser, as a download with that name. All downloads of
   * an invoice have the same bytes.
   *
   * @throws not_found; already_exists without `overwrite`; invalid_argument if `dest` is a directory; permission_denied
   * @returns the number of bytes
   */
  getInvoicePdf(invoiceId: string, orgId: string, dest: string, options?: PdfOptions): Promise<number>;
  /**
   * Waits until the payment is confirmed, at most two minutes. After that it throws deadline_exceeded with the id of the invoice, and a
   * late confirmation is still booked.
   *
   * @throws failed_precondition if the payment fails; already_exists for an equal charge
   */
  createInvoiceAndChargeImmediately(charge: ImmediateCharge, options?: ChargeOptions): Promise<{ invoiceId: string }>;
  /** Returns once the payment is submitted. @throws already_exists for an equal charge */
  chargeOrganization(charge: OrganizationCharge, options?: ChargeOptions): Promise<{ invoiceId: string }>;
}

/** Slightly longer than the cloud waits, so that its answer arrives. */
const immediateTimeoutMs = 125_000;

export function billingClient(service: Client<typeof BillingService>): BillingClient {
  return {
    getCurrentMonthUsage: (orgId, options) => service.getCurrentMonthUsage({ orgId }, callOptions(options)),
    getOrgBillingInformation: (orgId, options) => service.getOrgBillingInformation({ orgId }, callOptions(options)),
    getInvoicesSummary: (orgId, options) => service.getInvoicesSummary({ orgId }, callOptions(options)),
    getInvoicePdf: (id, orgId, dest, options) =>
      saveFile(
        chunksOf(() => service.getInvoicePdf({ id, orgId }, callOptions(options))),
        dest,
        options,
      ),
    async createInvoiceAndChargeImmediately(charge, options) {
      const given = { timeoutMs: immediateTimeoutMs, ...callOptions(options) };
      const { invoiceId } = await service.createInvoiceAndChargeImmediately(charge, given);
      return { invoiceId };
    },
    async chargeOrganization(charge, options) {
      const { invoiceId } = await service.chargeOrganization(charge, callOptions(options));
      return { invoiceId };
    },
  };
}

/** @param ask called when the first chunk is requested: before that, nothing would handle its error */
async function* chunksOf(ask: () => AsyncIterable<GetInvoicePdfResponse>): AsyncIterable<Uint8Array> {
  for await (const { chunk } of ask()) yield chunk;
}

function callOptions({ timeout, idempotencyKey }: ChargeOptions = {}): {
  timeoutMs?: number;
  headers?: Record<string, string>;
} {
  return {
    ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
  };
}

/** Name of a type, such as TABULAR_DATA_UPLOAD; UNKNOWN for a type that only a newer cloud has. */
export function usageTypeName(type: UsageCostType): string {
  return UsageCostTypeSchema.value[type]?.localName ?? 'UNKNOWN';
}
