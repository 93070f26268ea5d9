/** `platform admin backup` and `restore`. */
import { resolve } from 'node:path';
import { dataLoss } from '@platform/base/refusals';
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineAdminCommand, timeText } from './define-admin-command.ts';

interface Report {
  readonly destination?: string;
  readonly target?: string;
  readonly createdMs: number;
  readonly files: number;
  readonly bytes: number;
  readonly lastPosition: number;
  /** Only in the answer to a restore. */
  readonly goesOnAfter?: number;
  readonly instanceKey: string;
  readonly warnings?: readonly string[];
  /** Files missing from a backup because they are damaged. */
  readonly damaged?: readonly { readonly path: string; readonly reason: string }[];
}

const fields = ['directory', 'taken_at', 'files', 'bytes', 'last_position', 'instance_key'];

function shape(report: Report): JsonObject {
  return {
    directory: report.destination ?? report.target ?? '',
    taken_at: timeText(report.createdMs),
    files: report.files,
    bytes: report.bytes,
    last_position: report.lastPosition,
    instance_key: report.instanceKey,
  };
}

export function backupCommand(): Command {
  return defineAdminCommand(
    new Command('backup')
      .description('back up everything, even while the cloud runs; the directory must be new or empty')
      .argument('<directory>')
      .option(
        '--with-instance-key',
        'include the instance key unencrypted: anyone who has the backup can read every secret',
      )
      .option('--passphrase-file <file>', 'include the instance key, encrypted with the passphrase in this file'),
    {
      examples: [
        'platform admin backup /backups/monday --passphrase-file ~/backup-passphrase',
        'platform admin backup /backups/monday --json=bytes',
      ],
      fields: [...fields, 'damaged'],
    },
    async (ask, { out }, flags, folder) => {
      const report = (await ask('backup', {
        destination: resolve(folder ?? ''),
        withInstanceKey: flags['withInstanceKey'] === true,
        ...(flags['passphraseFile'] !== undefined && { passphraseFile: resolve(String(flags['passphraseFile'])) }),
      })) as Report;
      const damaged = (report.damaged ?? []).map(({ path, reason }) => `${path}: ${reason}`);
      out.object(out.style.json === false ? shape(report) : { ...shape(report), damaged });
      if (report.instanceKey === 'left-out')
        out.warn(
          'The backup does not contain the instance key. Without that key, no one, including you, can decrypt its secrets. Keep a copy of instance.key elsewhere, or use --passphrase-file.',
        );
      if (damaged.length === 0) return;
      if (out.style.json === false) for (const text of damaged) out.warn(`Not in the backup: ${text}`);
      throw dataLoss(
        `the backup is complete except for ${damaged.length} damaged ${damaged.length === 1 ? 'file. Repair it' : 'files. Repair them'} with platform admin repair, then back up again`,
      );
    },
  );
}

export function restoreCommand(): Command {
  return defineAdminCommand(
    new Command('restore')
      .description('restore a backup into the --data directory, which must be new or empty')
      .argument('<backup>')
      .option('--passphrase-file <file>', 'file with the passphrase that encrypts the instance key in the backup'),
    {
      examples: ['platform admin restore /backups/monday --data /srv/platform'],
      fields: [...fields, 'goes_on_after', 'warnings'],
    },
    async (ask, { out }, flags, source) => {
      const report = (await ask('restore', {
        source: resolve(source ?? ''),
        ...(flags['passphraseFile'] !== undefined && { passphraseFile: resolve(String(flags['passphraseFile'])) }),
      })) as Report;
      const warnings = [...(report.warnings ?? [])];
      const restored = { ...shape(report), goes_on_after: report.goesOnAfter ?? null };
      out.object(out.style.json === false ? restored : { ...restored, warnings });
      out.note(
        'New uploads get much higher positions (after goes_on_after), because the original cloud may have used the positions in between.',
      );
      if (out.style.json === false) for (const warning of warnings) out.warn(warning);
    },
  );
}
