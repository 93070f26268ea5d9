/** Accounts: organizations, their settings, their trees of locations, and the sharing of locations. */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { locationHandlers } from './locations/location-rpc.ts';
import { type PushConfiguration, readPushConfiguration } from './mobile-push/push-configuration.ts';
import { pushHandlers } from './mobile-push/push-rpc.ts';
import { logoUrl } from './organizations/logo.ts';
import { type LogoRoute, logoRoute } from './organizations/logo-route.ts';
import { organizationHandlers } from './organizations/organization-rpc.ts';
import { settingsHandlers } from './organizations/settings-rpc.ts';

export interface Accounts {
  /** The AppService handlers for accounts. */
  readonly appHandlers: Handlers<typeof AppService, Principal>;
  /** `GET /logos/<id>`. */
  readonly logoRoute: LogoRoute;
  /** Address of an organization's logo; empty if it has none. */
  logoUrl(organizationId: string): Promise<string>;
  /** `whsec_` and base64: the key that signs the organization's webhooks. Undefined if the organization does not exist. */
  webhookSecret(organizationId: string): Promise<string | undefined>;
  /** Credentials for an organization's push notifications; undefined if none are set. */
  pushConfiguration(organizationId: string): Promise<PushConfiguration | undefined>;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  return {
    appHandlers: {
      ...organizationHandlers(deps),
      ...locationHandlers(deps),
      ...settingsHandlers(deps),
      ...pushHandlers(deps),
    },
    logoRoute: logoRoute(deps.db),
    logoUrl: (organizationId) => logoUrl(deps, organizationId),
    async webhookSecret(organizationId) {
      const organization = deps.tree.organization(organizationId);
      return organization && deps.instanceKey.decrypt(organization.webhook_secret);
    },
    pushConfiguration: (organizationId) => readPushConfiguration(deps, organizationId),
  };
}
