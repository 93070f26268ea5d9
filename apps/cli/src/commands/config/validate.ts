/** `platform config validate`. */
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { readInput } from '../../invocation/input.ts';
import { partArgument, readConfiguration, requireDocumentSize } from './configuration.ts';

export function validateCommand(): Command {
  return defineCommand(
    new Command('validate')
      .description('check a configuration for mistakes without saving it')
      .argument(...partArgument)
      .argument('[file]', 'JSON; - reads standard input (default: the saved configuration)'),
    {
      examples: ['platform config validate press-7 press.json', 'platform config validate press-7'],
      fields: ['severity', 'path', 'message'],
    },
    async (context, _flags, part = '', file = undefined) => {
      const before = await readConfiguration(context, part);
      const document = file === undefined ? before.text : await readInput(file, context.invocation);
      requireDocumentSize(document, file === undefined || file === '-' ? 'configuration' : file);
      const { problems, revision } = await (await context.cloud()).fleet.validateConfiguration({
        partId: before.partId,
        document,
      });
      const rows = problems.map(({ severity, path, message }) => ({ severity, path, message }));
      if (rows.length > 0 || context.out.style.json !== false) context.out.rows(rows, ['severity', 'path', 'message']);
      const errors = rows.filter((row) => row.severity === 'error').length;
      if (errors > 0) throw new PlatformError('invalid_argument', `${errors} ${errors === 1 ? 'error' : 'errors'}`);
      const warnings = rows.length === 0 ? '' : ` with ${rows.length} ${rows.length === 1 ? 'warning' : 'warnings'}`;
      context.out.note(`valid${warnings} (revision ${revision})`);
    },
  );
}
