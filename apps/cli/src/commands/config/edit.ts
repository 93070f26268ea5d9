/** `platform config edit`. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { editText } from '../../invocation/edit-text.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { partArgument, readConfiguration, versionResult } from './configuration.ts';
import { problemsOf, save } from './save.ts';

export function editCommand(): Command {
  return defineCommand(
    new Command('edit')
      .description(
        'edit the configuration of a part in $VISUAL or $EDITOR; changes are validated and shown before they are saved',
      )
      .argument(...partArgument),
    {
      examples: ['platform config edit press-7', 'EDITOR=nano platform config edit press-7/gripper'],
      fields: versionResult.fields,
    },
    async (context, _flags, part = '') => {
      const before = await readConfiguration(context, part);
      // Problems of the last text from the editor: the cloud is asked once per text.
      let problems: Awaited<ReturnType<typeof problemsOf>> = [];
      const errorsOf = async (edited: string): Promise<string[]> => {
        problems = await problemsOf(context, before.partId, edited);
        return problems.filter((one) => one.severity === 'error').map((one) => `${one.path}: ${one.message}`);
      };
      const kept = { name: `${before.partId}.json`, saving: `platform config set ${shellWord(part)}` };
      await editText(before.text, kept, context, errorsOf, (text) => save(context, before, text, problems));
    },
  );
}
