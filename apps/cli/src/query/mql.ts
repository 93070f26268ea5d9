/** `platform query mql`. */
import { PlatformError, parseStages, readRow, relaxedJson, TabularDataSourceType } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choice } from '../invocation/choice.ts';
import { leaf } from '../invocation/leaf.ts';
import { ask } from './ask.ts';
import { answerOptions, formatOf, printAnswer } from './print-answer.ts';
import { queryText } from './query-text.ts';
import { withPlace } from './with-place.ts';

const sources: Readonly<Record<string, TabularDataSourceType>> = {
  standard: TabularDataSourceType.STANDARD,
  hot: TabularDataSourceType.HOT_STORAGE,
};

export function mqlCommand(): Command {
  return leaf(
    answerOptions(
      new Command('mql')
        .description('print the rows of an aggregation pipeline over `readings`')
        .argument('[pipeline]', 'stages, or one stage, in Extended JSON; @FILE reads a file, - standard input')
        .addOption(choice('--data-source <source>', 'which data (default: standard)', Object.keys(sources)))
        .option('--saved <name>', 'run this saved query first, and the stages on its rows'),
    ),
    {
      examples: [
        `platform query mql '[{"$match":{"component_name":"host"}},{"$limit":3}]'`,
        'platform query mql @pipeline.json --csv > rows.csv',
        `platform query mql '{"$match":{"time_received":{"$gte":{"$date":"2027-01-31"}}}}' --explain`,
        'platform query mql --saved hourly-means --json',
      ],
      fields: ['those of the rows'],
    },
    async (context, flags, argument) => {
      const format = formatOf(context, flags);
      const saved = flags['saved'] === undefined ? {} : { queryPrefixName: String(flags['saved']) };
      if (argument === undefined && flags['saved'] === undefined)
        throw new PlatformError('invalid_argument', 'expected a pipeline, --saved NAME or both, found neither');
      const source = sources[String(flags['dataSource'])];
      const dataSource = source === undefined ? {} : { dataSource: { type: source } };
      const text = argument === undefined ? '[]' : await queryText(argument);
      const asked = { context, dataDir: flags['data'], explain: flags['explain'] === true };

      const stages = await withPlace(context, { text }, async () => parseStages(text));
      const mqlBinary = stages.map(({ bson }) => bson);
      // After a saved query the cloud counts that one's stages, too.
      const counted = flags['saved'] === undefined ? mqlBinary.map((bson) => relaxedJson(readRow(bson))) : [];
      const answer = await withPlace(context, { text: '', stages: counted }, () =>
        ask(asked, (data, organizationId, options) =>
          data.tabularDataByMQL({ organizationId, mqlBinary, ...saved, ...dataSource }, options),
        ),
      );
      await printAnswer(context, asked.explain ? 'explained' : format, answer);
    },
  );
}
