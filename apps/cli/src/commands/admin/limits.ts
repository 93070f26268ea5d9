/** `platform admin limits`: what an organization may use. */
import { type JsonObject, PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { group } from '../../invocation/leaf.ts';
import { adminLeaf } from './admin-leaf.ts';

const fields = ['name', 'value', 'default', 'unit'];

export function limitsCommand(): Command {
  return group('limits', 'what an organization may use', [get(), set()]);
}

function get(): Command {
  return adminLeaf(
    new Command('get').description('show the limits of an organization').argument('<organization-id>'),
    { examples: ['platform admin limits get 3f2c…'], fields },
    async (ask, { out }, _flags, organizationId = '') => {
      out.rows((await ask('limits.get', { organizationId })) as JsonObject[], fields);
    },
  );
}

function set(): Command {
  return adminLeaf(
    new Command('set')
      .description('change a limit of an organization; "default" takes the change back')
      .argument('<organization-id>')
      .argument('<name>')
      .argument('<value>'),
    { examples: ['platform admin limits set 3f2c… query-bytes-per-month 200000000000000'], fields },
    async (ask, { out }, _flags, organizationId = '', name = '', text = '') => {
      if (text !== 'default' && !/^\d+$/.test(text))
        throw new PlatformError('invalid_argument', `value: expected a whole number or "default", found "${text}"`);
      const value = text === 'default' ? {} : { value: Number(text) };
      out.rows((await ask('limits.set', { organizationId, name, ...value })) as JsonObject[], fields);
    },
  );
}
