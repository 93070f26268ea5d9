/** Accounts: organizations, their settings, their trees of locations, and the sharing of locations. */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { CloudHandlers } from '../access/principal.ts';
import type { Route } from '../wire/route.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { locationHandlers } from './locations/location-rpc.ts';
import { devicePushTokens, removeDeadToken } from './mobile-push/device-push-tokens.ts';
import { readHostPushCredentials } from './mobile-push/host-push-configuration.ts';
import { type PushConfiguration, readPushConfiguration } from './mobile-push/push-configuration.ts';
import { pushHandlers } from './mobile-push/push-rpc.ts';
import { logoUrl } from './organizations/logo.ts';
import { logoRoute } from './organizations/logo-route.ts';
import { organizationHandlers } from './organizations/organization-rpc.ts';
import { settingsHandlers } from './organizations/settings-rpc.ts';
import { timeZoneHandlers } from './organizations/time-zone-rpc.ts';
import { webhookSecretHandlers } from './organizations/webhook-secret-rpc.ts';
import { webhookSecrets } from './organizations/webhook-secrets.ts';

export interface Accounts {
  /** The AppService handlers for accounts. */
  readonly appHandlers: CloudHandlers<typeof AppService>;
  /** The FleetService handlers for accounts. */
  readonly fleetHandlers: ReturnType<typeof webhookSecretHandlers> & ReturnType<typeof timeZoneHandlers>;
  /** `GET /logos/<id>`. */
  readonly logoRoute: Route;
  /** Address of an organization's logo; empty if it has none. */
  logoUrl(organizationId: string): Promise<string>;
  /**
   * `whsec_` and base64: the keys that sign the organization's webhooks, the current one first. Empty if the organization does not exist.
   */
  webhookSecrets(organizationId: string): Promise<readonly string[]>;
  /** Credentials for an organization's push notifications; undefined if none are set. */
  pushConfiguration(organizationId: string): Promise<PushConfiguration | undefined>;
  /** The host's credentials for the platform's own mobile app; undefined if none are set. */
  hostPushCredentials(): Promise<string | undefined>;
  /** Push tokens of a person's devices, newest first. */
  devicePushTokens(personId: string, appId: string): Promise<readonly string[]>;
  /** Deletes a token that the push provider no longer knows. */
  removeDeadToken(appId: string, token: string): Promise<void>;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  return {
    appHandlers: {
      ...organizationHandlers(deps),
      ...locationHandlers(deps),
      ...settingsHandlers(deps),
      ...pushHandlers(deps),
    },
    fleetHandlers: { ...webhookSecretHandlers(deps), ...timeZoneHandlers(deps) },
    logoRoute: logoRoute(deps.db),
    logoUrl: (organizationId) => logoUrl(deps, organizationId),
    webhookSecrets: async (organizationId) => (await webhookSecrets(deps, organizationId)).map(({ secret }) => secret),
    pushConfiguration: (organizationId) => readPushConfiguration(deps, organizationId),
    hostPushCredentials: () => readHostPushCredentials(deps),
    devicePushTokens: (personId, appId) => devicePushTokens(deps, personId, appId),
    removeDeadToken: (appId, token) => removeDeadToken(deps, { appId, token }),
  };
}
