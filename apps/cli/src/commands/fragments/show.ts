/** `platform fragments list`, `get`, `delete` and `usage`. */
import type { FragmentUsage } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { presenter } from '../../results/presenters.ts';
import { all, current, documentOf, fragmentArgument, fragmentFields, named, shapes } from './fragment.ts';

export function listCommand(): Command {
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

export function getCommand(): Command {
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

export function removeCommand(): Command {
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

export function usageCommand(): Command {
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
