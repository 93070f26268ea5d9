/** `platform admin repair`. */
import { resolve } from 'node:path';
import { dataLoss } from '@platform/base/refusals';
import type { Repaired } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineAdminCommand, organizationsOf, timeText } from './define-admin-command.ts';
import { repairSummary } from './repair-summary.ts';

const fields = [
  'outcome',
  'what',
  'damage',
  'detail',
  'organization_id',
  'organization',
  'day',
  'rows',
  'first',
  'last',
];

export function repairCommand(): Command {
  return defineAdminCommand(
    new Command('repair')
      .description(
        'repair damaged readings, pictures and files, even while the cloud runs; without --apply, only list what it would do',
      )
      .option('--from <backup>', 'directory of a backup from which to restore files, payloads and uploads')
      .option(
        '--accept-loss',
        'give up what cannot be restored: damaged files move to parquet/quarantine, and queries leave out the readings that they and the ingest log have lost',
      )
      .option('--apply', 'make the changes'),
    {
      examples: [
        'platform admin repair',
        'platform admin repair --from /backups/monday --apply',
        'platform admin repair --from /backups/monday --accept-loss --apply',
      ],
      fields,
    },
    async (ask, { out }, flags) => {
      const report = (await ask('repair', {
        ...(flags['from'] !== undefined && { from: resolve(String(flags['from'])) }),
        acceptLoss: flags['acceptLoss'] === true,
        apply: flags['apply'] === true,
      })) as Repaired[];
      const names = new Map((await organizationsOf(ask)).map(({ id, name }) => [id, name]));
      out.rows(
        report.map(({ what, damage, outcome, detail, ...of }) => ({
          ...{ outcome, what, damage, detail },
          organization_id: of.organizationId ?? null,
          organization: names.get(of.organizationId ?? '') ?? null,
          day: of.captureDay ?? null,
          rows: of.rows ?? null,
          first: timeText(of.firstMs),
          last: timeText(of.lastMs),
        })),
        ['outcome', 'what', 'organization', 'damage', 'rows', 'first', 'last', 'detail'],
      );
      const { isMended, text } = repairSummary(report, flags['apply'] === true);
      if (!isMended) throw dataLoss(text);
      out.note(text);
    },
  );
}
