/** `platform admin push-config`: the installation's credentials for push notifications of the platform's own mobile app. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { readInput } from '../../invocation/input.ts';
import { type Ask, defineAdminCommand, timeText } from './define-admin-command.ts';

const fields = ['application', 'set_at'];
const application = 'com.platform.platformmobile';

export function adminPushConfigCommand(): Command {
  return group('push-config', `credentials for push notifications of ${application}`, [set(), get(), remove()]);
}

async function shown(ask: Ask, command: string, params: JsonObject = {}): Promise<JsonObject> {
  const { setMs } = (await ask(command, params)) as { setMs: number | null };
  return { application, set_at: timeText(setMs) };
}

function set(): Command {
  return defineAdminCommand(
    new Command('set')
      .description('set the credentials of the push provider; they replace earlier ones and are never shown')
      .argument('<file>', 'JSON of a service account; - for standard input'),
    { examples: ['platform admin push-config set service-account.json'], fields },
    async (ask, { out, invocation }, _flags, file = '') => {
      out.object(await shown(ask, 'push-config.set', { credentials: await readInput(file, invocation) }));
    },
  );
}

function get(): Command {
  return defineAdminCommand(
    new Command('get').alias('show').description('show whether credentials are set'),
    { examples: ['platform admin push-config get'], fields },
    async (ask, { out }) => out.object(await shown(ask, 'push-config.show')),
  );
}

function remove(): Command {
  return defineAdminCommand(
    new Command('delete')
      .alias('unset')
      .description('delete the credentials; notifications to the app then go to the test inbox'),
    { examples: ['platform admin push-config delete'], fields },
    async (ask, { out, confirm }) => {
      await confirm(`Delete the installation's credentials for push notifications of ${application}?`);
      out.object(await shown(ask, 'push-config.unset'));
    },
  );
}
