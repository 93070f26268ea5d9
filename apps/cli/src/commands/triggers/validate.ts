/** `platform triggers validate`: the problems of triggers before they are saved. */
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { presenter } from '../../results/presenters.ts';
import { partArgument } from '../config/configuration.ts';
import { readDraft } from './draft-file.ts';

const { fields, shape } = presenter<{ severity: string; path: string; message: string }>({
  severity: (one) => one.severity,
  path: (one) => one.path,
  message: (one) => one.message,
});

export function validateCommand(): Command {
  return defineCommand(
    new Command('validate')
      .description('check triggers for mistakes without saving them')
      .argument(...partArgument)
      .argument('<file>', 'triggers, one trigger, or a configuration with triggers, as JSON; - reads standard input'),
    {
      examples: ['platform triggers validate press-7 triggers.json'],
      fields,
    },
    async ({ cloud, find, out, invocation }, _flags, part = '', file = '') => {
      const { id: partId } = await find.part(part);
      const triggers = await readDraft(file, invocation);
      const { problems } = await (await cloud()).triggers.validateTriggers({ partId, triggers });
      if (problems.length > 0 || out.style.json !== false) out.rows(problems.map(shape), fields);
      const errors = problems.filter(({ severity }) => severity === 'error').length;
      if (errors > 0)
        throw new PlatformError('failed_precondition', `expected triggers without errors, found ${errors}`);
      out.note(`${triggers.length} ${triggers.length === 1 ? 'trigger' : 'triggers'}: no errors`);
    },
  );
}
