/** `platform fragments create`, `edit` and `set`. */
import type { Fragment, FragmentVisibility, JsonObject } from '@platform/sdk/cloud';
import { Command, type Option } from 'commander';
import { choice } from '../../invocation/choice.ts';
import type { Context } from '../../invocation/context.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { editText } from '../../invocation/edit-text.ts';
import { parseSaved, readSaved } from '../../invocation/input.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { current, documentOf, fragmentArgument, fragmentFields, show, visibilities } from './fragment.ts';

const visibilityOption = (): Option =>
  choice(
    '--visibility <visibility>',
    'who may use it: the organization, everyone, or everyone who knows its id',
    Object.keys(visibilities),
  );

interface Change {
  readonly name?: string;
  readonly config: JsonObject | undefined;
  readonly visibility?: FragmentVisibility | undefined;
}

/** Shows the warnings that the cloud sends with a saved fragment. */
function warningsIn({ out }: Context): { readonly onHeader: (headers: Headers) => void } {
  return {
    onHeader(headers) {
      const warnings = JSON.parse(decodeURIComponent(headers.get('platform-warnings') ?? '[]')) as readonly string[];
      for (const warning of warnings) out.warn(`warning: ${warning}`);
    },
  };
}

async function save(context: Context, before: Fragment, { name, config, visibility }: Change): Promise<void> {
  const change = {
    ...{ id: before.id, name: name ?? before.name, config: config ?? before.fragment ?? {} },
    ...{ visibility, lastKnownUpdate: before.lastUpdated },
  };
  const { fragment } = await (await context.cloud()).app.updateFragment(change, warningsIn(context));
  if (fragment !== undefined) await show(context, fragment);
}

export function createCommand(): Command {
  return defineCommand(
    new Command('create')
      .description('create a fragment from a file')
      .argument('<name>')
      .argument('<file>', 'JSON; - reads standard input')
      .addOption(visibilityOption().default('private')),
    { examples: ['platform fragments create camera-kit kit.json'], fields: fragmentFields },
    async (context, flags, name = '', file = '') => {
      const config = await readSaved(file, context.invocation);
      const { id: organizationId } = await context.find.organization();
      const asked = { name, config, organizationId, visibility: visibilities[flags['visibility']] };
      const { fragment } = await (await context.cloud()).app.createFragment(asked, warningsIn(context));
      if (fragment !== undefined) await show(context, fragment);
    },
  );
}

export function editCommand(): Command {
  return defineCommand(
    new Command('edit').description('edit a fragment in $VISUAL or $EDITOR').argument(...fragmentArgument),
    { examples: ['platform fragments edit camera-kit'], fields: fragmentFields },
    async (context, _flags, text = '') => {
      const before = await current(context, text);
      const problemsOf = async (edited: string): Promise<string[]> => {
        parseSaved(edited, 'fragment');
        return [];
      };
      const kept = { name: `${before.id}.json`, saving: `platform fragments update ${shellWord(text)} --file` };
      await editText(documentOf(before), kept, context, problemsOf, (edited) =>
        save(context, before, { config: parseSaved(edited, 'fragment') }),
      );
    },
  );
}

export function updateCommand(): Command {
  return defineCommand(
    new Command('update')
      .alias('set')
      .description('change the name, visibility or content of a fragment')
      .argument(...fragmentArgument)
      .option('--name <name>', 'new name')
      .addOption(visibilityOption())
      .option('--file <file>', 'new content, JSON; - reads standard input'),
    {
      examples: [
        'platform fragments update camera-kit --file kit.json',
        'platform fragments update camera-kit --visibility public',
      ],
      fields: fragmentFields,
    },
    async (context, flags, text = '') => {
      const before = await current(context, text);
      const { name, visibility, file } = flags;
      const config = file === undefined ? undefined : await readSaved(file, context.invocation);
      await save(context, before, { name, visibility: visibilities[visibility], config });
    },
  );
}
