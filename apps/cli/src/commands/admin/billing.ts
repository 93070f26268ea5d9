/** `platform admin billing`, `payments` and `check-ledger`: which organization bills which, received payments, and a check of the books. */
import { dataLoss, invalidArgument } from '@platform/base/refusals';
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { defineAdminCommand, organizationNamed, timeText } from './define-admin-command.ts';

const fields = ['organization_id', 'biller_id', 'tier', 'since', 'billing_email'];

export function adminBillingCommand(): Command {
  return group('billing', 'which organization bills another', [get(), assign()]);
}

function get(): Command {
  return defineAdminCommand(
    new Command('get')
      .description('show who bills an organization, and on which tier')
      .argument('<organization>', 'name or id'),
    { examples: ['platform admin billing get "My organization"'], fields },
    async (ask, { out }, _flags, text = '') => {
      const { id: organizationId } = await organizationNamed(ask, text);
      out.object(shown((await ask('billing.show', { organizationId })) as JsonObject));
    },
  );
}

function assign(): Command {
  return defineAdminCommand(
    new Command('assign')
      .description(
        'set which organization bills another; at once if no one bills it yet, otherwise from the next month on',
      )
      .argument('<organization>', 'name or id of the organization that will pay')
      .option('--biller <organization>', 'name or id of the organization that bills')
      .option('--tier <name>', 'tier of its price list')
      .option('--email <address>', 'where invoices are mailed')
      .option('--nobody', 'stop billing the organization'),
    {
      examples: [
        'platform admin billing assign Plant --biller Host --tier standard',
        'platform admin billing assign Plant --nobody',
      ],
      fields,
    },
    async (ask, { out }, flags, text = '') => {
      const { biller, tier, email, nobody } = flags;
      if ((nobody === true) === (biller !== undefined || tier !== undefined))
        throw invalidArgument('expected --biller with --tier, or only --nobody');
      const { id: organizationId } = await organizationNamed(ask, text);
      const by =
        nobody === true
          ? {}
          : { billerId: (await organizationNamed(ask, String(biller ?? ''))).id, tier: String(tier ?? '') };
      const params = { organizationId, ...by, ...(email !== undefined && { email: String(email) }) };
      out.object(shown((await ask('billing.assign', params)) as JsonObject));
    },
  );
}

function shown(account: JsonObject): JsonObject {
  return {
    organization_id: account['organizationId'] ?? null,
    biller_id: account['billerId'] ?? null,
    tier: account['tier'] ?? null,
    since: timeText(account['sinceMs']),
    billing_email: account['billingEmail'] || null,
  };
}

const paymentFields = ['invoice_id', 'number', 'state', 'open', 'currency', 'is_new'];
const ledgerFields = ['lines', 'invoices', 'audit_entries', 'audit_hash', 'problems'];

export function paymentsCommand(): Command {
  return group('payments', 'payments that you received outside the platform', [record()]);
}

function record(): Command {
  return defineAdminCommand(
    new Command('record')
      .description('record a payment of an invoice; a repeated reference is recorded only once')
      .argument('<invoice>', 'id of the invoice')
      .argument('<amount>', 'such as 12.50, in the currency of the invoice')
      .requiredOption('--reference <text>', 'such as the number of the bank transfer'),
    {
      examples: ['platform admin payments record 1f0c6a52-93f1-4ac4-9f3e-6b3a1de0c1aa 12.50 --reference transfer-881'],
      fields: paymentFields,
    },
    async (ask, { out }, flags, invoiceId = '', amount = '') => {
      const params = { invoiceId, amount, reference: String(flags['reference']) };
      const {
        invoiceId: invoice_id = null,
        isNew: is_new = null,
        ...rest
      } = (await ask('payments.record', params)) as JsonObject;
      out.object({ invoice_id, ...rest, is_new });
    },
  );
}

export function checkLedgerCommand(): Command {
  return defineAdminCommand(
    new Command('check-ledger').description(
      'check the ledger: its sums, its hash chain and that of the audit trail, invoice numbers without gaps, and invoices against the ledger',
    ),
    { examples: ['platform admin check-ledger'], fields: ledgerFields },
    async (ask, { out }) => {
      const {
        auditEntries: audit_entries = null,
        auditHash: audit_hash = null,
        problems = [],
        ...ledger
      } = (await ask('check-ledger')) as JsonObject;
      out.object({ ...ledger, audit_entries, audit_hash, problems });
      const { length } = Array.isArray(problems) ? problems : [];
      if (length > 0) throw dataLoss(`the ledger is inconsistent: ${length} problems`);
    },
  );
}
