/** The time zone of an organization's notifications, in the API. Members read it, owners set it. */
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { audit } from '../../access/audit.ts';
import { type CloudHandlers, notVisible } from '../../access/principal.ts';
import { checkedTimeZone } from '../../text-rules/time-zone.ts';
import type { AccountsDeps } from '../accounts-deps.ts';

export function timeZoneHandlers({
  tree,
  access,
  clock,
}: Pick<AccountsDeps, 'tree' | 'access' | 'clock'>): Pick<
  CloudHandlers<typeof FleetService>,
  'getOrganizationTimeZone' | 'setOrganizationTimeZone'
> {
  return {
    getOrganizationTimeZone({ organizationId }, { principal }) {
      access.authorize(principal, 'organization.see', organizationId);
      return { timeZone: tree.organization(organizationId)?.time_zone ?? '' };
    },
    async setOrganizationTimeZone(request, call) {
      const { organizationId } = request;
      access.authorize(call.principal, 'organization.manage', organizationId);
      const timeZone = checkedTimeZone(request.timeZone);
      await tree.change(async (trx, changed) => {
        const row = await trx
          .updateTable('organizations')
          .set({ time_zone: timeZone })
          .where('id', '=', organizationId)
          .returningAll()
          .executeTakeFirstOrThrow(() => notVisible('organization', organizationId));
        const target = ['organization', organizationId, organizationId] as const;
        const detail = { time_zone: timeZone };
        await audit(trx, call, clock.now(), 'FleetService.SetOrganizationTimeZone', target, detail);
        changed.organization(row);
      });
      return { timeZone };
    },
  };
}
