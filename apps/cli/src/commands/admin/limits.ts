/** `platform admin limits`: the usage limits of an organization. */
import { invalidArgument } from '@platform/base/refusals';
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { defineAdminCommand, organizationNamed } from './define-admin-command.ts';

const fields = ['name', 'value', 'used', 'default', 'unit'];

/** The limit that is set most often. */
const scanBytes = 'query-bytes-per-month';

export function limitsCommand(): Command {
  return group('limits', 'usage limits of an organization', [get(), set()]);
}

function get(): Command {
  return defineAdminCommand(
    new Command('get').description('show the limits of an organization').argument('<organization>', 'name or id'),
    { examples: ['platform admin limits get "My organization"'], fields },
    async (ask, { out }, _flags, text = '') => {
      const { id: organizationId } = await organizationNamed(ask, text);
      out.rows((await ask('limits.get', { organizationId })) as JsonObject[], fields);
    },
  );
}

function set(): Command {
  return defineAdminCommand(
    new Command('set')
      .description('change a limit of an organization; "default" restores the default')
      .argument('<organization>', 'name or id')
      .argument('[name]', 'name of the limit; "limits get" shows them')
      .argument('[value]', 'a whole number, or default')
      .option(
        '--monthly-scan-bytes <bytes>',
        `the same as ${scanBytes} <bytes>: how much queries may scan in a UTC month`,
      ),
    {
      examples: [
        'platform admin limits set "My organization" --monthly-scan-bytes 200000000000000',
        'platform admin limits set "My organization" fragments 2000',
      ],
      fields,
    },
    async (ask, { out }, flags, organization = '', ...given) => {
      const { name, text } = chosen(flags['monthlyScanBytes'], given);
      if (text !== 'default' && !/^\d+$/.test(text))
        throw invalidArgument(`value: expected a whole number or "default", found "${text}"`);
      const { id: organizationId } = await organizationNamed(ask, organization);
      const value = text === 'default' ? {} : { value: Number(text) };
      out.rows((await ask('limits.set', { organizationId, name, ...value })) as JsonObject[], fields);
    },
  );
}

function chosen(bytes: unknown, [name, value]: readonly (string | undefined)[]): { name: string; text: string } {
  if (bytes !== undefined && name === undefined) return { name: scanBytes, text: String(bytes) };
  if (bytes === undefined && name !== undefined && value !== undefined) return { name, text: value };
  throw invalidArgument(
    'expected the name of a limit and a value, or only --monthly-scan-bytes; platform admin limits get shows the names',
  );
}
