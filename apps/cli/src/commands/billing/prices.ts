/** `platform billing prices|simulate|close-month`: for owners of organizations that bill others, and a preview of the next invoice. */
import { type InvoiceLine, type PriceList, timestampFromDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { readInput } from '../../invocation/input.ts';
import { presenter, timeOf } from '../../results/presenters.ts';

const versions = presenter<PriceList>({
  version: (one) => one.version,
  effective_at: (one) => timeOf(one.effectiveAt),
  created_at: (one) => timeOf(one.createdAt),
  document: (one) => one.document,
});

export function pricesCommand(): Command {
  return group('prices', 'price lists by which the organization bills others', [list(), set()]);
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the versions of the price list, newest first'),
    {
      examples: ['platform billing prices list', 'platform billing prices list --json=version,document'],
      fields: versions.fields,
    },
    async ({ cloud, out, find }) => {
      const { id: organizationId } = await find.organization(undefined);
      const { priceLists } = await (await cloud()).prices.listPriceLists({ organizationId });
      out.rows(priceLists.map(versions.shape), ['version', 'effective_at', 'created_at']);
    },
  );
}

function set(): Command {
  return defineCommand(
    new Command('set')
      .description('add a version of the price list')
      .argument('<file>', 'JSON; - for standard input')
      .option('--month <month>', 'YYYY-MM: the first month (UTC) in which it applies (default: the next one)'),
    { examples: ['platform billing prices set prices.json --month 2027-01'], fields: versions.fields },
    async ({ cloud, out, find, invocation }, flags, file = '') => {
      const document = await readInput(file, invocation);
      const { id: organizationId } = await find.organization(undefined);
      const month = flags['month'];
      const effectiveAt =
        month === undefined ? undefined : timestampFromDate(new Date(`${String(month)}-01T00:00:00Z`));
      const { priceList } = await (await cloud()).prices.setPriceList({ organizationId, document, effectiveAt });
      if (priceList !== undefined) out.object(versions.shape(priceList));
    },
  );
}

const lines = presenter<InvoiceLine>({
  text: (one) => one.text,
  quantity: (one) => one.quantity || null,
  unit: (one) => one.unit || null,
  unit_price: (one) => one.unitPrice || null,
  amount: (one) => one.amount,
});

export function simulateCommand(): Command {
  return defineCommand(
    new Command('simulate')
      .description('show the lines that the invoice of a month would have, without issuing it')
      .option('--month <month>', 'YYYY-MM, UTC (default: the current one)'),
    { examples: ['platform billing simulate', 'platform billing simulate --month 2027-01'], fields: lines.fields },
    async ({ cloud, out, find }, flags) => {
      const { id: organizationId } = await find.organization(undefined);
      const month = flags['month'] === undefined ? '' : String(flags['month']);
      const answer = await (await cloud()).prices.simulateInvoice({ organizationId, month });
      out.rows(answer.lines.map(lines.shape), lines.fields);
      out.note(
        `subtotal: ${answer.subtotal} ${answer.currency}, tier ${answer.tierName}, price list ${answer.priceListVersion}`,
      );
    },
  );
}

export function closeMonthCommand(): Command {
  return defineCommand(
    new Command('close-month')
      .description('issue the invoices of a month that has ended, to the organizations that this one bills')
      .argument('<month>', 'YYYY-MM, UTC'),
    { examples: ['platform billing close-month 2027-01'], fields: ['invoice_ids', 'others'] },
    async ({ cloud, out, find }, _flags, month = '') => {
      const { id: organizationId } = await find.organization(undefined);
      const { invoiceIds, others } = await (await cloud()).invoices.closeMonth({ organizationId, month });
      out.object({ invoice_ids: invoiceIds, others });
    },
  );
}
