/** The host's credentials for push notifications of the platform's own app. They are never shown. */
import type { OwnActor } from '../access/audit.ts';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import {
  deleteHostPushCredentials,
  hostPushCredentialsSetAt,
  setHostPushCredentials,
} from '../accounts/mobile-push/host-push-configuration.ts';
import type { Operations } from './control-channel.ts';
import { readParams } from './read-params.ts';

export function pushOperations(
  deps: Pick<AccountsDeps, 'db' | 'instanceKey' | 'clock'>,
  actorOf: (params: Readonly<Record<string, unknown>>) => OwnActor,
): Operations {
  const show = async () => ({ setMs: (await hostPushCredentialsSetAt(deps)) ?? null });
  return {
    'push-config.set': async (params) => {
      await setHostPushCredentials(deps, actorOf(params), readParams(params).text('credentials'));
      return show();
    },
    'push-config.show': show,
    'push-config.unset': async (params) => {
      await deleteHostPushCredentials(deps, actorOf(params));
      return show();
    },
  };
}
