/** Creates an organization with its caller as owner (R8). */
import { permissionDenied } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { addGrant } from '../../access/grants.ts';
import { ownsWhole } from '../../access/principal.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { insertOrganization } from '../insert-account-rows.ts';
import type { OrganizationRow } from '../tree.ts';

/** @throws permission_denied for parts, and keys that own no organization; invalid_argument for the name */
export async function createOrganization(deps: AccountsDeps, by: Caller, name: string): Promise<OrganizationRow> {
  const { principal } = by;
  if (principal.kind === 'part' || (principal.kind === 'key' && !principal.grants.some(ownsWhole)))
    throw permissionDenied(
      `CreateOrganization: expected a person, or an API key that owns an organization, found ${principal.kind === 'part' ? "a part's credentials" : 'a key that does not own one'}`,
    );
  const checked = checkedName(name);
  const nowMs = deps.clock.now();
  const created = await deps.tree.change(async (trx, changed) => {
    const row = await insertOrganization(trx, deps.instanceKey, checked, nowMs);
    await addGrant(
      trx,
      principal.kind === 'person'
        ? { type: 'person', id: principal.personId }
        : { type: 'api-key', id: principal.keyId },
      { role: 'owner', organizationId: row.id, locationId: null, robotId: null },
    );
    await audit(trx, by, nowMs, 'AppService.CreateOrganization', ['organization', row.id, row.id], { name: checked });
    changed.organization(row);
    return row;
  });
  deps.accessChanged();
  return created;
}
