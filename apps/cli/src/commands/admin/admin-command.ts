/** `platform admin`: for whoever runs the installation on this computer (D30); needs to read the data folder, and no login. */
import type { Command } from 'commander';
import { group } from '../../invocation/leaf.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import {
  adminOrganizationsCommand,
  auditCommand,
  doctorCommand,
  rotateInstanceKeyCommand,
  statusCommand,
} from './installation.ts';
import { limitsCommand } from './limits.ts';
import { repairCommand } from './repair.ts';

export function adminCommand(): Command {
  return group('admin', 'run this installation: backups, limits, keys; needs to read its data folder', [
    statusCommand(),
    backupCommand(),
    restoreCommand(),
    doctorCommand(),
    repairCommand(),
    limitsCommand(),
    adminOrganizationsCommand(),
    auditCommand(),
    rotateInstanceKeyCommand(),
  ]);
}
