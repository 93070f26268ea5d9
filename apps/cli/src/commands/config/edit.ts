/** `platform config edit`. */
import { Command } from 'commander';
import { editText } from '../../invocation/edit-text.ts';
import { leaf } from '../../invocation/leaf.ts';
import { parsed, partArgument, readConfiguration, versionFields } from './configuration.ts';
import { save } from './save.ts';

export function editCommand(): Command {
  return leaf(
    new Command('edit')
      .description('edit the configuration of a part with $VISUAL or $EDITOR; validated and shown before it is saved')
      .argument(...partArgument),
    {
      examples: ['platform config edit press-7', 'EDITOR=nano platform config edit press-7/gripper'],
      fields: versionFields,
    },
    async (context, _flags, part = '') => {
      const before = await readConfiguration(context, part);
      const problemsOf = async (edited: string): Promise<string[]> => {
        parsed(edited);
        const { problems } = await (await context.cloud()).fleet.validateConfiguration(
          { partId: before.partId, document: edited },
          { signal: context.signal },
        );
        return problems.filter((one) => one.severity === 'error').map((one) => `${one.path}: ${one.message}`);
      };
      await editText(before.text, `${before.partId}.json`, context, problemsOf, (text) => save(context, before, text));
    },
  );
}
