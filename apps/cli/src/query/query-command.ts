/** `platform query`: queries readings with an aggregation pipeline or a SELECT and prints tables, lines of JSON, or CSV; saved queries. */
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { withPosition } from './error-position.ts';
import { answerOptions, formatOf, printAnswer } from './print-answer.ts';
import { mqlOptions, queryText, runMql } from './run-mql.ts';
import { runQuery } from './run-query.ts';
import { savedCommand } from './saved/saved-command.ts';

export function queryCommand(): Command {
  return group('query', 'query readings with SQL or MQL (aggregation pipelines)', [
    mqlCommand(),
    sqlCommand(),
    savedCommand(),
  ]);
}

function mqlCommand(): Command {
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

function sqlCommand(): Command {
  return defineCommand(
    answerOptions(
      new Command('sql')
        .description('print the rows of a SELECT over `readings`')
        .argument('<query>', 'the statement; @FILE reads a file, - standard input'),
    ),
    {
      examples: [
        'platform query sql "SELECT time_received, data FROM readings LIMIT 3"',
        'platform query sql @mean-temperature.sql --csv > mean.csv',
        'platform query sql - --json < newest.sql',
      ],
      fields: ['the columns of the rows'],
    },
    async (context, flags, argument = '') => {
      const format = formatOf(context, flags);
      const sqlQuery = await queryText(argument, context.invocation);
      const asked = { context, dataDir: flags['data'], explain: flags['explain'] === true };
      const answer = await withPosition(context, { text: sqlQuery }, () =>
        runQuery(asked, (data, organizationId, options) =>
          data.tabularDataBySQL({ organizationId, sqlQuery }, options),
        ),
      );
      await printAnswer(context, asked.explain ? 'explained' : format, answer);
    },
  );
}
