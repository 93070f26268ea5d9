/** `platform billing usage|info|invoices`: an organization's usage, how it is billed, and its debts. */
import { invalidArgument } from '@platform/base/refusals';
import { type InvoiceSummary, type UsageRecord, usageTypeName } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { presenter, timeOf } from '../../results/presenters.ts';

const hourly = presenter<UsageRecord>({
  hour: (one) => timeOf(one.hour),
  type: (one) => usageTypeName(one.type).toLowerCase(),
  quantity: (one) => Number(one.quantity),
});

const costFields = ['start', 'end', 'tier', 'currency', 'subtotal', 'discount', 'costs'];

export function usageCommand(): Command {
  return defineCommand(
    new Command('usage')
      .description('show what the organization has used in the current month (UTC), at its prices')
      .option('--hourly', 'quantities by hour and type instead, whether they are billed or not'),
    { examples: ['platform billing usage', 'platform billing usage --hourly --json'], fields: costFields },
    async ({ cloud, out, find }, flags) => {
      const { id } = await find.organization(undefined);
      const { billing, prices } = await cloud();
      if (flags['hourly'] === true) {
        const { records } = await prices.listUsage({ organizationId: id });
        return out.rows(records.map(hourly.shape), hourly.fields);
      }
      const usage = await billing.getCurrentMonthUsage(id);
      const [source] = usage.resourceUsageCostsBySource;
      const costs = source?.resourceUsageCosts;
      out.object({
        ...{ start: timeOf(usage.startDate), end: timeOf(usage.endDate), tier: source?.tierName ?? null },
        ...{ currency: usage.currency, subtotal: usage.subtotal, discount: costs?.discount ?? 0 },
        costs: Object.fromEntries(
          (costs?.usageCosts ?? []).map(({ resourceType, cost }) => [usageTypeName(resourceType).toLowerCase(), cost]),
        ),
      });
    },
  );
}

const infoFields = ['tier', 'currency', 'billing_email', 'provider', 'payment_method', 'unpaid'];

export function infoCommand(): Command {
  return defineCommand(
    new Command('info').description('show how the organization is billed, and its payment method'),
    { examples: ['platform billing info'], fields: infoFields },
    async ({ cloud, out, find }) => {
      const { id } = await find.organization(undefined);
      const { billing } = await cloud();
      const info = await billing.getOrgBillingInformation(id);
      const { invoices: listed } = await billing.getInvoicesSummary(id);
      out.object({
        ...{ tier: info.billingTier ?? null, currency: info.currency ?? null },
        ...{ billing_email: info.billingEmail || null, provider: info.paymentProvider },
        payment_method: info.method === undefined ? null : `${info.method.brand} …${info.method.lastFourDigits}`,
        // Ids of invoices that were not paid after the last reminder.
        unpaid: listed.filter(({ status }) => status === 'unpaid').map(({ id: invoice }) => invoice),
      });
    },
  );
}

const invoices = presenter<InvoiceSummary>({
  id: (one) => one.id,
  date: (one) => timeOf(one.invoiceDate),
  amount: (one) => one.invoiceAmount,
  currency: (one) => one.currency,
  status: (one) => one.status,
  due: (one) => timeOf(one.dueDate),
  paid: (one) => timeOf(one.paidDate),
  failure: (one) => one.lastPaymentFailureReason || null,
});

export function invoicesCommand(): Command {
  return defineCommand(
    new Command('invoices')
      .description('list the invoices of the organization, newest first, and what is still to be paid')
      .option('--open', 'only those that are not paid'),
    { examples: ['platform billing invoices', 'platform billing invoices --open'], fields: invoices.fields },
    async ({ cloud, out, find }, flags) => {
      const { id } = await find.organization(undefined);
      const { invoices: listed, outstandingBalance, currency } = await (await cloud()).billing.getInvoicesSummary(id);
      const wanted =
        flags['open'] === true ? listed.filter(({ status }) => status === 'open' || status === 'unpaid') : listed;
      out.rows(wanted.map(invoices.shape), ['date', 'amount', 'currency', 'status', 'due', 'id']);
      out.note(`to be paid: ${outstandingBalance}${currency && ` ${currency}`}`);
    },
  );
}

/** @throws invalid_argument */
export function amountOf(text: unknown, option: string): number {
  if (typeof text === 'string' && /^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw invalidArgument(`${option}: expected an amount such as 12.50, found ${JSON.stringify(text)}`);
}
