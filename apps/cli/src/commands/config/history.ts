/** `platform config history`. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { partArgument, versionFields, versionShape, wholeNumber } from './configuration.ts';

export function historyCommand(): Command {
  return defineCommand(
    new Command('history')
      .description('list the versions of the configuration of a part, newest first')
      .argument(...partArgument)
      .option('--limit <number>', 'maximum number of versions', '50'),
    {
      examples: ['platform config history press-7', 'platform config history press-7 --limit 500 --json'],
      fields: versionFields,
    },
    async ({ cloud, find, out, signal }, flags, part = '') => {
      const { id } = await find.part(part);
      const { fleet } = await cloud();
      const limit = wholeNumber(flags['limit'], '--limit') ?? 50;
      const rows: JsonObject[] = [];
      let pageToken = '';
      do {
        const page = await fleet.listConfigurationVersions(
          { partId: id, pageLimit: Math.min(500, limit - rows.length), ...(pageToken === '' ? {} : { pageToken }) },
          { signal },
        );
        rows.push(...page.versions.map(versionShape));
        pageToken = page.nextPageToken;
      } while (pageToken !== '' && rows.length < limit);
      out.rows(rows, ['version', 'saved_at', 'author', 'bytes', 'restored_from']);
    },
  );
}
