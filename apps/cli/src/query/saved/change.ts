/** `platform query saved create`, `update` and `delete`. */
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { readStages, withStages } from '../run-mql.ts';
import { savedArgument, savedQuery, savedQueryById, savedQueryFields, show } from './saved-query.ts';

const pipelineHelp = 'stages, or one stage, in Extended JSON; @FILE reads a file, - standard input';

export function createCommand(): Command {
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

export function updateCommand(): Command {
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
        throw new PlatformError('invalid_argument', 'expected a pipeline, --name or both, found neither');
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

export function removeCommand(): Command {
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
