/** `platform query saved`: pipelines that an organization has saved under a name. */
import { invalidArgument } from '@platform/base/refusals';
import { readRow, typedJson } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { parseRow } from '../../data/parse-row.ts';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { pickFields } from '../print-answer.ts';
import { mqlOptions, readStages, runMql, withStages } from '../run-mql.ts';
import {
  pipelineText,
  savedArgument,
  savedQueries,
  savedQuery,
  savedQueryById,
  savedQueryFields,
  shapes,
  show,
} from './saved-query.ts';

export function savedCommand(): Command {
  return group('saved', 'pipelines saved under a name', [
    listCommand(),
    getCommand(),
    createCommand(),
    updateCommand(),
    removeCommand(),
    runCommand(),
  ]);
}

function runCommand(): Command {
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

/** `platform query saved list` and `get`. */
function listCommand(): Command {
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

function getCommand(): Command {
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

const pipelineHelp = 'stages, or one stage, in Extended JSON; @FILE reads a file, - standard input';

/** `platform query saved create`, `update` and `delete`. */
function createCommand(): Command {
  return defineCommand(
    new Command('create')
      .description('save a pipeline under a name; for owners')
      .argument('<name>')
      .argument('<pipeline>', pipelineHelp),
    {
      examples: [
        'platform query saved create hourly-means @pipeline.json',
        `platform query saved create host '{"$match":{"component_name":"host"}}'`,
      ],
      fields: savedQueryFields,
    },
    async (context, _flags, name = '', argument = '') => {
      const mqlBinary = await readStages(context, argument);
      const { id: organizationId } = await context.find.organization();
      const { data } = await context.cloud();
      const { id } = await withStages(context, mqlBinary, () =>
        data.createSavedQuery({ organizationId, name, mqlBinary }),
      );
      await show(context, await savedQueryById(context, id));
    },
  );
}

function updateCommand(): Command {
  return defineCommand(
    new Command('update')
      .description('change the name or the pipeline of a saved query; for owners')
      .argument(...savedArgument)
      .argument('[pipeline]', `${pipelineHelp} (default: unchanged)`)
      .option('--name <name>', 'new name'),
    {
      examples: [
        'platform query saved update hourly-means @pipeline.json',
        'platform query saved update hourly-means --name means',
      ],
      fields: savedQueryFields,
    },
    async (context, flags, text = '', argument = undefined) => {
      if (argument === undefined && flags['name'] === undefined)
        throw invalidArgument('expected a pipeline, --name or both, found neither');
      const stages = argument === undefined ? undefined : await readStages(context, argument);
      const before = await savedQuery(context, text);
      const mqlBinary = stages ?? before.mqlBinary;
      const name = flags['name'] === undefined ? before.name : String(flags['name']);
      const { data } = await context.cloud();
      await withStages(context, mqlBinary, () => data.updateSavedQuery({ id: before.id, name, mqlBinary }));
      await show(context, await savedQueryById(context, before.id));
    },
  );
}

function removeCommand(): Command {
  return defineCommand(
    new Command('delete').description('delete a saved query; for owners').argument(...savedArgument),
    { examples: ['platform query saved delete hourly-means'] },
    async (context, _flags, text = '') => {
      const { id, name } = await savedQuery(context, text);
      await context.confirm(
        `Delete the saved query "${name}" (${id})? Anything that uses it will fail with "not found".`,
      );
      await (await context.cloud()).data.deleteSavedQuery({ id });
      context.out.note(`saved query "${name}" is deleted`);
    },
  );
}
