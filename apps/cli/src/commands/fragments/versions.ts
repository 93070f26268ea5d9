/** `platform fragments history`, `tag` and `untag`. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { timeOf } from '../../invocation/presenters.ts';
import { current, fragmentArgument, named } from './fragment.ts';

export function historyCommand(): Command {
  return defineCommand(
    new Command('history').description('list the versions of a fragment, newest first').argument(...fragmentArgument),
    { examples: ['platform fragments history camera-kit'], fields: ['revision', 'edited_on', 'edited_by'] },
    async (context, _flags, text = '') => {
      const { id } = await named(context, text);
      const rows: JsonObject[] = [];
      let pageToken = '';
      do {
        const page = await (await context.cloud()).app.getFragmentHistory(
          { id, ...(pageToken === '' ? {} : { pageToken }) },
          { signal: context.signal },
        );
        for (const entry of page.history)
          rows.push({
            revision: entry.revision,
            edited_on: timeOf(entry.editedOn),
            edited_by: entry.editedBy?.value ?? null,
          });
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      context.out.rows(rows, ['revision', 'edited_on', 'edited_by']);
    },
  );
}

export function tagCommand(): Command {
  return defineCommand(
    new Command('tag')
      .description('tag a version of a fragment, or move a tag to it')
      .argument(...fragmentArgument)
      .argument('<tag>')
      .option('--revision <revision>', 'revision to tag (default: the newest)'),
    { examples: ['platform fragments tag camera-kit stable'] },
    async (context, flags, text = '', name = '') => {
      const fragment = await current(context, text);
      const revision = (flags['revision'] as string | undefined) ?? fragment.revision;
      await (await context.cloud()).app.setFragmentTag(
        { fragmentId: fragment.id, tag: name, revision },
        { signal: context.signal },
      );
      context.out.note(`tag "${name}" of fragment "${fragment.name}" is revision ${revision}`);
    },
  );
}

export function untagCommand(): Command {
  return defineCommand(
    new Command('untag')
      .description('remove a tag from a fragment')
      .argument(...fragmentArgument)
      .argument('<tag>'),
    { examples: ['platform fragments untag camera-kit stable'] },
    async (context, _flags, text = '', name = '') => {
      const { id } = await named(context, text);
      await (await context.cloud()).app.deleteFragmentTag({ fragmentId: id, tag: name }, { signal: context.signal });
      context.out.note(`tag "${name}" is removed`);
    },
  );
}
