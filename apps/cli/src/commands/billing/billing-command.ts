/** `platform billing`: usage, debts and payments of an organization; prices; charges. */
import { invalidArgument } from '@platform/base/refusals';
import { TestCard } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { timeOf } from '../../results/presenters.ts';
import { closeMonthCommand, pricesCommand, simulateCommand } from './prices.ts';
import { serviceCommand } from './service.ts';
import { amountOf, infoCommand, invoicesCommand, usageCommand } from './usage.ts';

export function billingCommand(): Command {
  return group('billing', 'usage, invoices and prices of an organization; for its owners', [
    usageCommand(),
    infoCommand(),
    invoicesCommand(),
    pdfCommand(),
    chargeCommand(),
    methodCommand(),
    pricesCommand(),
    simulateCommand(),
    closeMonthCommand(),
    voidCommand(),
    serviceCommand(),
  ]);
}

/** `platform billing charge`: charges the organization an amount. */
function chargeCommand(): Command {
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

const cards: Readonly<Record<string, TestCard>> = {
  succeeds: TestCard.SUCCEEDS,
  declines: TestCard.DECLINES,
  'confirms-late': TestCard.CONFIRMS_LATE,
  'never-confirms': TestCard.NEVER_CONFIRMS,
};

/** `platform billing method`: the organization's payment methods. */
function methodCommand(): Command {
  return group('method', 'payment method of the organization', [add(), set(), remove()]);
}

function add(): Command {
  return defineCommand(
    new Command('add').description(
      'print the address of a page on which to attach a card, which replaces the current payment method; only with the payment provider "stripe"',
    ),
    { examples: ['platform billing method add'], fields: ['url', 'expires_at'] },
    async ({ cloud, out, find }) => {
      const { id: organizationId } = await find.organization(undefined);
      const { url, expiresAt } = await (await cloud()).invoices.beginPaymentMethodSetup({ organizationId });
      out.object({ url, expires_at: timeOf(expiresAt) });
      out.note('open the page in a browser; platform billing info shows the card once it is attached');
    },
  );
}

function set(): Command {
  return defineCommand(
    new Command('set')
      .description(
        'attach a test card, which replaces the current payment method; only with the payment provider "test"',
      )
      .argument('<card>', Object.keys(cards).join(', '))
      .option('--after <seconds>', 'when payments with confirms-late are confirmed', '60'),
    { examples: ['platform billing method set succeeds'] },
    async ({ cloud, out, find }, flags, name = '') => {
      const card = cards[name];
      if (card === undefined)
        throw invalidArgument(`card: expected one of ${Object.keys(cards).join(', ')}, found "${name}"`);
      const { id: organizationId } = await find.organization(undefined);
      const confirmAfterSeconds = wholeNumber(flags['after'], '--after') ?? 0;
      await (await cloud()).invoices.attachTestCard({ organizationId, card, confirmAfterSeconds });
      out.note('the card is attached');
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete').description('remove the payment method of the organization'),
    { examples: ['platform billing method delete --yes'] },
    async ({ cloud, out, find, confirm }) => {
      const { id: organizationId, name } = await find.organization(undefined);
      await confirm(`Remove the payment method of the organization "${name}"?`);
      await (await cloud()).invoices.removePaymentMethod({ organizationId });
      out.note('the payment method is removed');
    },
  );
}

/** `platform billing pdf`: saves an invoice as a file. */
function pdfCommand(): Command {
  return defineCommand(
    new Command('pdf')
      .description('save the PDF of an invoice or a credit note')
      .argument('<invoice>', 'its id (platform billing invoices)')
      .argument('[file]', 'default: invoice-ID.pdf in this folder')
      .option('--overwrite', 'replace an existing file'),
    {
      examples: ['platform billing pdf 00000000-0000-4000-8000-000000000000 march.pdf'],
      fields: ['file', 'bytes'],
    },
    async ({ cloud, out, find, progress }, flags, invoice = '', file = `invoice-${invoice}.pdf`) => {
      const { id } = await find.organization(undefined);
      const { billing } = await cloud();
      const bytes = await billing.getInvoicePdf(invoice, id, file, {
        overwrite: flags['overwrite'] === true,
        onProgress: (received) => progress.says(`${received} bytes received`),
      });
      out.object({ file, bytes });
    },
  );
}

/** `platform billing void`: cancels an invoice with a credit note. */
function voidCommand(): Command {
  return defineCommand(
    new Command('void')
      .description(
        'cancel an invoice on which nothing has been paid, with a credit note; for owners of the organization that bills',
      )
      .argument('<invoice>', 'its id (platform billing close-month)')
      .requiredOption('--reason <text>', 'on the credit note'),
    {
      examples: [
        'platform billing void 00000000-0000-4000-8000-000000000000 --reason "Wrong tier" --organization Host',
      ],
      fields: ['credit_note_id'],
    },
    async ({ cloud, out, find, confirm }, flags, invoiceId = '') => {
      const { id: organizationId } = await find.organization(undefined);
      await confirm(`Cancel the invoice ${invoiceId}?`);
      const reason = String(flags['reason']);
      const { creditNoteId } = await (await cloud()).invoices.voidInvoice({ organizationId, invoiceId, reason });
      out.object({ credit_note_id: creditNoteId });
    },
  );
}
