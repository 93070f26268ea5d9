/** `platform query saved list` and `get`. */
import { readRow, typedJson } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { parseRow } from '../../data/parse-row.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { pickFields } from '../print-answer.ts';
import { pipelineText, savedArgument, savedQueries, savedQuery, savedQueryFields, shapes } from './saved-query.ts';

export function listCommand(): Command {
  return defineCommand(
    new Command('list').description('list the saved queries of an organization'),
    {
      examples: ['platform query saved list', 'platform query saved list --json=id,name'],
      fields: savedQueryFields,
    },
    async (context) => {
      const queries = await savedQueries(context);
      context.out.rows(await shapes(context, queries), ['name', 'id', 'stages', 'updated_at']);
    },
  );
}

export function getCommand(): Command {
  return defineCommand(
    new Command('get').description('print the pipeline of a saved query').argument(...savedArgument),
    {
      examples: [
        'platform query saved get hourly-means > pipeline.json',
        'platform query saved get hourly-means --json=id,pipeline',
      ],
      fields: [...savedQueryFields, 'pipeline'],
    },
    async (context, _flags, text = '') => {
      const query = await savedQuery(context, text);
      const { json } = context.out.style;
      if (json === false) return context.out.raw(pipelineText(query));
      // JSON.stringify has only one number type.
      const fields = parseRow(JSON.stringify((await shapes(context, [query]))[0] ?? {}));
      const all = new Map(fields).set('pipeline', query.mqlBinary.map(readRow));
      context.out.raw(typedJson(pickFields(all, json)));
    },
  );
}
