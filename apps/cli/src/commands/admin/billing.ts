/** `platform admin billing`: which organization bills which. */
import { type JsonObject, PlatformError } from '@platform/sdk/cloud';
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
        throw new PlatformError('invalid_argument', 'expected --biller with --tier, or only --nobody');
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
