/** `platform query mql`. */
import { Command } from 'commander';
import { defineCommand } from '../invocation/define-command.ts';
import { mqlOptions, runMql } from './run-mql.ts';

export function mqlCommand(): Command {
  return defineCommand(
    mqlOptions(
      new Command('mql')
        .description('print the rows of an aggregation pipeline over `readings`')
        .argument('[pipeline]', 'stages, or one stage, in Extended JSON; @FILE reads a file, - standard input')
        .option('--saved <query>', 'name or id of a saved query that runs first; the stages run on its rows'),
    ),
    {
      examples: [
        `platform query mql '[{"$match":{"component_name":"host"}},{"$limit":3}]'`,
        'platform query mql @pipeline.json --csv > rows.csv',
        `platform query mql '{"$match":{"time_received":{"$gte":{"$date":"2027-01-31"}}}}' --explain`,
        'platform query mql --saved hourly-means --json',
      ],
      fields: ['the columns of the rows'],
    },
    (context, flags, argument) =>
      runMql(context, flags, {
        argument,
        saved: flags['saved'] === undefined ? undefined : String(flags['saved']),
      }),
  );
}
