/** `platform data binary list`. */
import type { BinaryMetadata } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { fileResult, filesFound, filterOf, filterOptions } from './binary-filter.ts';

export function listCommand(): Command {
  return defineCommand(
    filterOptions(new Command('list').description('list captured files, newest first'))
      .option('--limit <number>', 'maximum number of files', '50')
      .option('--oldest-first', 'oldest first instead of newest first'),
    {
      examples: [
        'platform data binary list --part press-7 --mime image/png --since 24h',
        'platform data binary list --tags faulty --limit 1000 --json=id,bytes',
      ],
      fields: fileResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const { data } = await context.cloud();
      const filter = await filterOf(context, flags);
      const found: BinaryMetadata[] = [];
      // Requests one more than it shows, to know whether there are more.
      const order = { most: most + 1, oldestFirst: flags['oldestFirst'] === true };
      for await (const file of filesFound(data, filter, order)) found.push(file);
      const hasMore = found.length > most;
      if (hasMore) found.pop();
      context.out.rows(found.map(fileResult.shape), [
        'time_received',
        'part',
        'resource',
        'method',
        'mime_type',
        'bytes',
        'id',
      ]);
      if (hasMore) context.out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}
