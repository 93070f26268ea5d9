/** `platform query saved run`. */
import { Command } from 'commander';
import { leaf } from '../../invocation/leaf.ts';
import { askMql, mqlOptions } from '../ask-mql.ts';

export function runCommand(): Command {
  return leaf(
    mqlOptions(
      new Command('run')
        .description('print the rows of a saved query; same as platform query mql --saved')
        .argument('<name>')
        .argument('[pipeline]', 'stages to run on its rows; @FILE reads a file, - standard input'),
    ),
    {
      examples: [
        'platform query saved run hourly-means',
        `platform query saved run hourly-means '{"$limit":24}' --csv > means.csv`,
      ],
      fields: ['the columns of the rows'],
    },
    (context, flags, saved = '', argument = undefined) => askMql(context, flags, { argument, saved }),
  );
}
