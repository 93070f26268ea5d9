/** Push credentials of organizations and device tokens of people in the API. */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, type Principal, requirePerson } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { deleteDevicePushToken, devicePushTokens, setDevicePushToken } from './device-push-tokens.ts';
import { appOfPushConfiguration, deletePushConfiguration, setPushConfiguration } from './push-configuration.ts';

export function pushHandlers(deps: AccountsDeps): CloudHandlers<typeof AppService> {
  const { access } = deps;
  return {
    async setFirebaseConfig(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      const configuration = { appId: request.appId, credentials: request.configJson };
      await setPushConfiguration(deps, call, request.orgId, configuration);
    },
    async getFirebaseConfig(request, { principal }) {
      access.authorize(principal, 'organization.manage', request.orgId);
      return { appId: await appOfPushConfiguration(deps, request.orgId) };
    },
    async deleteFirebaseConfig(request, call) {
      access.authorize(call.principal, 'organization.manage', request.orgId);
      await deletePushConfiguration(deps, call, request.orgId, request.appId);
    },
    async uploadDevicePushToken(request, call) {
      const { appId, deviceUuid, deviceToken: token } = request;
      await setDevicePushToken(deps, call, personOf(call.principal), { appId, deviceUuid, token });
    },
    async deleteDevicePushToken(request, call) {
      await deleteDevicePushToken(deps, call, personOf(call.principal), request);
    },
    async getDevicePushTokens(request, { principal }) {
      return { deviceTokens: await devicePushTokens(deps, personOf(principal), request.appId) };
    },
  };
}

const personOf = (principal: Principal): string => requirePerson(principal, 'push tokens', 'only people have devices');
