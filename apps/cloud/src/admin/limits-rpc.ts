/** The limits of an organization in the API, for its operators; the host administrator sets them. */
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import type { Access } from '../access/authorize.ts';
import type { CloudHandlers } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';
import { type Limits, limitKinds, limitUsage } from './limits.ts';

export function limitHandlers(deps: {
  readonly db: Database;
  readonly access: Access;
  readonly limits: Limits;
  readonly now: () => number;
}): Pick<CloudHandlers<typeof FleetService>, 'listLimits'> {
  return {
    async listLimits({ organizationId }, { principal }) {
      deps.access.authorize(principal, 'organization.read', organizationId);
      const limits = await limitUsage(deps.db, organizationId, deps.limits.list(organizationId), deps.now());
      return {
        limits: limits.map(({ name, value, unit, used }) => ({
          ...{ name, unit, value: BigInt(value), meaning: limitKinds[name].meaning },
          ...(used !== null && { used: BigInt(used) }),
        })),
      };
    },
  };
}
