/** `platform query sql`. */
import { Command } from 'commander';
import { defineCommand } from '../invocation/define-command.ts';
import { withPosition } from './error-position.ts';
import { answerOptions, formatOf, printAnswer } from './print-answer.ts';
import { queryText } from './query-text.ts';
import { runQuery } from './run-query.ts';

export function sqlCommand(): Command {
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
