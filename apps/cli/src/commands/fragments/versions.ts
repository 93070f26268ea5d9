/** `platform fragments history`, `tag` and `untag`. */
import type { FragmentHistoryEntry } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { namesOf } from '../../results/names.ts';
import { presenter, timeOf } from '../../results/presenters.ts';
import { current, fragmentArgument, named } from './fragment.ts';

const entry = presenter<FragmentHistoryEntry>({
  revision: (one) => one.revision,
  edited_on: (one) => timeOf(one.editedOn),
  edited_by_id: (one) => one.editedBy?.value ?? null,
});

export function historyCommand(): Command {
  return defineCommand(
    new Command('history').description('list the revisions of a fragment, newest first').argument(...fragmentArgument),
    { examples: ['platform fragments history camera-kit'], fields: [...entry.fields, 'edited_by'] },
    async (context, _flags, text = '') => {
      const { id } = await named(context, text);
      const { app } = await context.cloud();
      const history = await readPages(Number.POSITIVE_INFINITY, async (_room, pageToken) => {
        const page = await app.getFragmentHistory({ id, pageToken });
        return { items: page.history, nextPageToken: page.nextPageToken };
      });
      const names = await namesOf(context, ['key', 'person']);
      const rows = history.map((one) => {
        const by = one.editedBy?.value;
        return { ...entry.shape(one), edited_by: by === undefined ? null : (names.get(by) ?? by) };
      });
      context.out.rows(rows, ['revision', 'edited_on', 'edited_by']);
    },
  );
}

export function tagCommand(): Command {
  return defineCommand(
    new Command('tag')
      .description('tag a revision of a fragment, or move a tag to it')
      .argument(...fragmentArgument)
      .argument('<tag>')
      .option('--revision <revision>', 'revision to tag (default: the newest)'),
    { examples: ['platform fragments tag camera-kit stable'] },
    async (context, flags, text = '', name = '') => {
      const fragment = await current(context, text);
      const revision = (flags['revision'] as string | undefined) ?? fragment.revision;
      await (await context.cloud()).app.setFragmentTag({ fragmentId: fragment.id, tag: name, revision });
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
      await (await context.cloud()).app.deleteFragmentTag({ fragmentId: id, tag: name });
      context.out.note(`tag "${name}" is removed`);
    },
  );
}
