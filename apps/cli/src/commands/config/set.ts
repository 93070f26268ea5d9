/** `platform config set`. */
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { readInput } from '../../invocation/input.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { partArgument, readConfiguration, requireDocumentSize, versionResult } from './configuration.ts';
import { problemsOf, save } from './save.ts';

export function setCommand(): Command {
  return defineCommand(
    new Command('set')
      .description('save a file as the configuration of a part')
      .argument(...partArgument)
      .argument('<file>', 'JSON; - reads standard input')
      .option('--if-version <number>', 'save only if this version is still the current one'),
    {
      examples: [
        'platform config set press-7 press.json --yes',
        'platform config set press-7 - --if-version 12 --yes < press.json',
      ],
      fields: versionResult.fields,
    },
    async (context, flags, part = '', file = '') => {
      const text = await readInput(file, context.invocation);
      requireDocumentSize(text, file === '-' ? 'standard input' : file);
      const before = await readConfiguration(context, part);
      const expected = wholeNumber(flags['ifVersion'], '--if-version');
      if (expected !== undefined && BigInt(expected) !== before.version?.version) {
        throw new PlatformError(
          'aborted',
          `configuration of ${part}: expected version ${expected} to be the current one, found ${before.version?.version}. See what changed with: platform config diff ${shellWord(part)} ${expected}`,
        );
      }
      await save(context, before, text, await problemsOf(context, before.partId, text));
    },
  );
}
