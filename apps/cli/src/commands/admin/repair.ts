/** `platform admin repair`. */
import { resolve } from 'node:path';
import { PlatformError, type Repaired } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { adminLeaf, timeText } from './admin-leaf.ts';
import { repairEnding } from './repair-ending.ts';

const fields = ['outcome', 'what', 'damage', 'detail', 'organization_id', 'day', 'rows', 'first', 'last'];

export function repairCommand(): Command {
  return adminLeaf(
    new Command('repair')
      .description(
        'mend damaged readings, pictures and files, also while the cloud runs; without --apply it only says what it would do',
      )
      .option('--from <backup>', 'folder of a backup to take files, payloads and uploads from')
      .option(
        '--accept-loss',
        'give up what nothing can restore: files leave the list and move to parquet/quarantine, and what the ingest log lost is answered without',
      )
      .option('--apply', 'do it'),
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
      out.rows(
        report.map(({ what, damage, outcome, detail, ...of }) => ({
          ...{ outcome, what, damage, detail },
          organization_id: of.organizationId ?? null,
          day: of.captureDay ?? null,
          rows: of.rows ?? null,
          first: timeText(of.firstMs),
          last: timeText(of.lastMs),
        })),
        ['outcome', 'what', 'damage', 'rows', 'first', 'last', 'detail'],
      );
      const { isMended, text } = repairEnding(report, flags['apply'] === true);
      if (!isMended) throw new PlatformError('data_loss', text);
      out.note(text);
    },
  );
}
