/** `platform config get`. */
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { parseObject } from '../../invocation/input.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { partArgument, readConfiguration } from './configuration.ts';

export function getCommand(): Command {
  return defineCommand(
    new Command('get')
      .description('print the configuration of a part')
      .argument(...partArgument)
      .option('--version <number>', 'an earlier version')
      .option('--effective', 'with fragments resolved, as the part receives it'),
    {
      examples: [
        'platform config get press-7',
        'platform config get press-7 --version 3',
        'platform config get press-7 --effective --json=components',
      ],
      fields: ['the fields of the configuration'],
    },
    async (context, flags, part = '') => {
      const found = await readConfiguration(context, part, wholeNumber(flags['version'], '--version'));
      const effective = flags['effective'] === true;
      if (effective && found.effective === undefined)
        throw new PlatformError('invalid_argument', '--effective: expected the current version, found an earlier one');
      const text = (effective ? found.effective : found.text) ?? found.text;
      // The document itself, so that `config set` accepts the output.
      context.out.document(parseObject(text, 'configuration'));
    },
  );
}
