/** `platform billing pdf`: saves an invoice as a file. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';

export function pdfCommand(): Command {
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
