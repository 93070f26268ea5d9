/** `platform query saved list` and `get`. */
import { type RowFields, type RowValue, readRow, Scalar, typedJson } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { pipelineText, savedArgument, savedQueries, savedQuery, savedQueryResult } from './saved-query.ts';

export function listCommand(): Command {
  return defineCommand(
    new Command('list').description('list the saved queries of an organization'),
    {
      examples: ['platform query saved list', 'platform query saved list --json=id,name'],
      fields: savedQueryResult.fields,
    },
    async (context) => {
      const queries = await savedQueries(context);
      context.out.rows(queries.map(savedQueryResult.shape), ['name', 'id', 'stages', 'updated_at']);
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
      fields: [...savedQueryResult.fields, 'pipeline'],
    },
    async (context, _flags, text = '') => {
      const query = await savedQuery(context, text);
      const { json } = context.out.style;
      if (json === false) return context.out.raw(pipelineText(query));
      // Built by hand, because JSON.stringify has only one number type.
      const all = new Map<string, RowValue>(
        Object.entries(savedQueryResult.shape(query)).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : new Scalar(JSON.stringify(value)),
        ]),
      ).set('pipeline', query.mqlBinary.map(readRow));
      const picked: RowFields =
        json === true ? all : new Map(json.map((name) => [name, all.get(name) ?? new Scalar('null')]));
      context.out.raw(typedJson(picked));
    },
  );
}
