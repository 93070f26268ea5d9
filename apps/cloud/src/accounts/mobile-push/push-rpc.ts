/** Push credentials of organizations and device tokens of people in the API. */
import { PlatformError } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { deleteDevicePushToken, devicePushTokens, setDevicePushToken } from './device-push-tokens.ts';
import { appOfPushConfiguration, deletePushConfiguration, setPushConfiguration } from './push-configuration.ts';

export function pushHandlers(deps: AccountsDeps): Handlers<typeof AppService, Principal> {
  const { access } = deps;
  return {
    async setFirebaseConfig(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      const configuration = { appId: request.appId, credentials: request.configJson };
      await setPushConfiguration(deps, call, request.orgId, configuration);
      return {};
    },
    async getFirebaseConfig(request, { principal }) {
      access.authorize(principal, 'organization.manage', request.orgId);
      return { appId: await appOfPushConfiguration(deps, request.orgId) };
    },
    async deleteFirebaseConfig(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await deletePushConfiguration(deps, call, request.orgId, request.appId);
      return {};
    },
    async uploadDevicePushToken(request, call) {
      const { appId, deviceUuid, deviceToken: token } = request;
      await setDevicePushToken(deps, call, personOf(call.principal), { appId, deviceUuid, token });
      return {};
    },
    async deleteDevicePushToken(request, call) {
      await deleteDevicePushToken(deps, call, personOf(call.principal), request);
      return {};
    },
    async getDevicePushTokens(request, { principal }) {
      return { deviceTokens: await devicePushTokens(deps, personOf(principal), request.appId) };
    },
  };
}

function personOf(principal: Principal): string {
  if (principal.kind === 'person') return principal.personId;
  throw new PlatformError(
    'permission_denied',
    `push tokens: expected a signed-in person, found ${principal.kind === 'key' ? 'an API key' : "a part's credentials"}: only people have devices; sign in with an e-mail address at the page /sign-in of this server, or with platform login, and send the access token of that session`,
  );
}
