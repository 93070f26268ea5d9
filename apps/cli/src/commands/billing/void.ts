/** `platform billing void`: cancels an invoice with a credit note. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';

export function voidCommand(): Command {
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
