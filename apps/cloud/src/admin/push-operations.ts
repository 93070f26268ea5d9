/** The host's credentials for push notifications of the platform's own app. They are never shown. */
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import {
  deleteHostPushCredentials,
  hostPushCredentialsSetAt,
  setHostPushCredentials,
} from '../accounts/mobile-push/host-push-configuration.ts';
import type { Operations } from './control-channel.ts';

export function pushOperations(deps: Pick<AccountsDeps, 'db' | 'instanceKey' | 'clock'>): Operations {
  const show = async () => ({ setMs: (await hostPushCredentialsSetAt(deps)) ?? null });
  return {
    'push-config.set': async ({ text, actor }) => {
      await setHostPushCredentials(deps, actor, text('credentials'));
      return show();
    },
    'push-config.show': show,
    'push-config.unset': async ({ actor }) => {
      await deleteHostPushCredentials(deps, actor);
      return show();
    },
  };
}
