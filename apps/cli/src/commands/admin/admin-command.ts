/**
 * `platform admin`: for the administrator of an installation on this computer (D30); needs access to the data directory instead of a login.
 */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { adminBillingCommand, checkLedgerCommand, paymentsCommand } from './billing.ts';
import {
  adminOrganizationsCommand,
  auditCommand,
  doctorCommand,
  rotateInstanceKeyCommand,
  statusCommand,
} from './installation.ts';
import { limitsCommand } from './limits.ts';
import { adminPushConfigCommand } from './push-config.ts';
import { repairCommand } from './repair.ts';
import { adminWebhooksCommand } from './webhooks.ts';

export function adminCommand(): Command {
  return group('admin', 'administer an installation on this computer: backups, limits, billing, keys', [
    statusCommand(),
    backupCommand(),
    restoreCommand(),
    doctorCommand(),
    repairCommand(),
    limitsCommand(),
    adminBillingCommand(),
    paymentsCommand(),
    checkLedgerCommand(),
    adminPushConfigCommand(),
    adminWebhooksCommand(),
    adminOrganizationsCommand(),
    auditCommand(),
    rotateInstanceKeyCommand(),
  ]);
}
