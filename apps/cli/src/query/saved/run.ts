/** `platform query saved run`. */
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { mqlOptions, runMql } from '../run-mql.ts';
import { savedArgument } from './saved-query.ts';

export function runCommand(): Command {
  return defineCommand(
    mqlOptions(
      new Command('run')
        .description('print the rows of a saved query; same as platform query mql --saved')
        .argument(...savedArgument)
        .argument('[pipeline]', 'stages to run on its rows; @FILE reads a file, - standard input'),
    ),
    {
      examples: [
        'platform query saved run hourly-means',
        `platform query saved run hourly-means '{"$limit":24}' --csv > means.csv`,
      ],
      fields: ['the columns of the rows'],
    },
    (context, flags, saved = '', argument = undefined) => runMql(context, flags, { argument, saved }),
  );
}
