/** `platform fragments`: shared parts of configurations, their versions and tags. */
import type { FragmentHistoryEntry, FragmentUsage } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { namesOf } from '../../results/names.ts';
import { presenter, timeOf } from '../../results/presenters.ts';
import { createCommand, editCommand, updateCommand } from './change.ts';
import { all, current, documentOf, fragmentArgument, fragmentFields, named, shapes } from './fragment.ts';

export function fragmentsCommand(): Command {
  return group('fragments', 'shared pieces of configuration', [
    listCommand(),
    getCommand(),
    createCommand(),
    editCommand(),
    updateCommand(),
    removeCommand(),
    historyCommand(),
    usageCommand(),
    tagCommand(),
    untagCommand(),
  ]);
}

/** `platform fragments list`, `get`, `delete` and `usage`. */
function listCommand(): Command {
  return defineCommand(
    new Command('list')
      .description('list the fragments of an organization')
      .option('--public', 'include public fragments of other organizations'),
    {
      examples: ['platform fragments list', 'platform fragments list --public --json=id,name'],
      fields: fragmentFields,
    },
    async (context, flags) => {
      const fragments = await all(context, flags['public'] === true);
      context.out.rows(await shapes(context, fragments), ['name', 'id', 'visibility', 'parts', 'last_updated']);
    },
  );
}

function getCommand(): Command {
  return defineCommand(
    new Command('get')
      .description('print a fragment')
      .argument(...fragmentArgument)
      .option('--version <version>', 'a revision or tag (default: the newest)'),
    {
      examples: ['platform fragments get camera-kit', 'platform fragments get camera-kit --version stable'],
      fields: [...fragmentFields, 'config'],
    },
    async (context, flags, text = '') => {
      const fragment = await current(context, text, flags['version'] as string | undefined);
      if (context.out.style.json === false) context.out.raw(documentOf(fragment));
      else {
        const [shown] = await shapes(context, [fragment]);
        context.out.object({ ...shown, config: fragment.fragment ?? {} });
      }
    },
  );
}

function removeCommand(): Command {
  return defineCommand(
    new Command('delete').description('delete a fragment that no part uses').argument(...fragmentArgument),
    { examples: ['platform fragments delete camera-kit'] },
    async (context, _flags, text = '') => {
      const { id, name } = await named(context, text);
      await context.confirm(`Delete the fragment "${name}" (${id}) and all its versions?`);
      await (await context.cloud()).app.deleteFragment({ id });
      context.out.note(`fragment "${name}" is deleted`);
    },
  );
}

const usage = presenter<FragmentUsage>({
  version: (one) => one.version ?? null,
  organizations: (one) => one.organizations,
  machines: (one) => one.machines,
  machines_in_current_org: (one) => one.machinesInCurrentOrg,
});

function usageCommand(): Command {
  return defineCommand(
    new Command('usage')
      .description('show how many machines use each revision of a fragment')
      .argument(...fragmentArgument),
    {
      examples: ['platform fragments usage camera-kit'],
      fields: usage.fields,
    },
    async (context, _flags, text = '') => {
      const { id } = await named(context, text);
      const { versionUsages } = await (await context.cloud()).app.getFragmentUsage({ fragmentId: id });
      context.out.rows(versionUsages.map(usage.shape), usage.fields);
    },
  );
}

const entry = presenter<FragmentHistoryEntry>({
  revision: (one) => one.revision,
  edited_on: (one) => timeOf(one.editedOn),
  edited_by_id: (one) => one.editedBy?.value ?? null,
});

/** `platform fragments history`, `tag` and `untag`. */
function historyCommand(): Command {
  return defineCommand(
    new Command('history').description('list the revisions of a fragment, newest first').argument(...fragmentArgument),
    { examples: ['platform fragments history camera-kit'], fields: [...entry.fields, 'edited_by'] },
    async (context, _flags, text = '') => {
      const { id } = await named(context, text);
      const { app } = await context.cloud();
      const history = await readPages(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, async (_limit, pageToken) => {
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

function tagCommand(): Command {
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

function untagCommand(): Command {
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
