/** `platform billing charge`: charges the organization an amount. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { amountOf } from './usage.ts';

export function chargeCommand(): Command {
  return defineCommand(
    new Command('charge')
      .description('charge the organization an amount, with an invoice')
      .argument(
        '<amount>',
        'such as 12.50, in the currency in which the organization is billed, which the command names',
      )
      .option('--tax <amount>', 'tax, added to the amount', '0')
      .option('--description <text>', 'text on the invoice')
      .option('--branding <organization>', 'id of the organization whose name is on the invoice')
      .option('--wait', 'wait until the payment is confirmed, at most two minutes')
      .option('--no-email', 'do not mail the organization')
      .option(
        '--key <text>',
        'idempotency key: for 24 hours, the same key charges once; without one, an equal charge may be refused',
      ),
    {
      examples: ['platform billing charge 12.50 --description "Set-up"', 'platform billing charge 12.50 --wait --yes'],
      fields: ['invoice_id', 'amount', 'tax', 'currency'],
    },
    async ({ cloud, out, find, confirm }, flags, text) => {
      const amount = amountOf(text, 'amount');
      const tax = amountOf(flags['tax'], '--tax');
      const { id: orgIdToCharge, name } = await find.organization(undefined);
      const { billing } = await cloud();
      // In units of its price list, which need not be dollars. Absent: nobody bills it, and the charge is refused.
      const { currency = '' } = await billing.getOrgBillingInformation(orgIdToCharge);
      const of = (value: unknown): string => `${value} ${currency}`.trim();
      await confirm(
        `Charge the organization "${name}" ${of(text)}${tax === 0 ? '' : ` and ${of(flags['tax'])} of tax`}?`,
      );
      const common = {
        orgIdToCharge,
        ...(flags['description'] !== undefined && { description: String(flags['description']) }),
        ...(flags['branding'] !== undefined && { orgIdForBranding: String(flags['branding']) }),
      };
      const isQuiet = flags['email'] === false;
      const options = flags['key'] === undefined ? {} : { idempotencyKey: String(flags['key']) };
      const { invoiceId } =
        flags['wait'] === true && tax === 0
          ? await billing.createInvoiceAndChargeImmediately({ ...common, amount, disableEmail: isQuiet }, options)
          : await billing.chargeOrganization(
              { ...common, subtotal: amount, tax, disableConfirmationEmail: isQuiet },
              options,
            );
      out.object({ invoice_id: invoiceId, amount, tax, currency });
    },
  );
}
