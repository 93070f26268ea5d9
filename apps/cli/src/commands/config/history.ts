/** `platform config history`. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { partArgument, versionResult } from './configuration.ts';

export function historyCommand(): Command {
  return defineCommand(
    new Command('history')
      .description('list the versions of the configuration of a part, newest first')
      .argument(...partArgument)
      .option('--limit <number>', 'maximum number of versions', '50'),
    {
      examples: ['platform config history press-7', 'platform config history press-7 --limit 500 --json'],
      fields: versionResult.fields,
    },
    async ({ cloud, find, out }, flags, part = '') => {
      const { id } = await find.part(part);
      const { fleet } = await cloud();
      const limit = wholeNumber(flags['limit'], '--limit') ?? 50;
      const versions = await readPages(limit, async (room, pageToken) => {
        const pageLimit = Math.min(500, room);
        const page = await fleet.listConfigurationVersions({ partId: id, pageLimit, pageToken });
        return { items: page.versions, nextPageToken: page.nextPageToken };
      });
      out.rows(versions.map(versionResult.shape), ['version', 'saved_at', 'author', 'bytes', 'restored_from']);
    },
  );
}
