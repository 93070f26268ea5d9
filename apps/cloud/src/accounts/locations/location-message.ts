/** Builds the message for a location as its caller may see it. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { chunks } from '@platform/base';
import { type LocationAuthSchema, type LocationSchema, SharedSecret_State } from '@platform/proto/platform/app/v1/app';
import { grantsOf, organizationsOf, type Principal, withoutShared } from '../../access/principal.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { LocationRow } from '../tree.ts';
import { readLocationSecrets } from './location-secrets.ts';

type LocationMessage = MessageInitShape<typeof LocationSchema>;
type LocationAuthMessage = MessageInitShape<typeof LocationAuthSchema>;
type MessageDeps = Pick<AccountsDeps, 'db' | 'tree' | 'access' | 'instanceKey' | 'machinesOf'>;

/** The caller must be allowed to see each location. Only owners get the secrets (D6). */
export async function locationMessages(
  deps: MessageDeps,
  principal: Principal,
  rows: readonly LocationRow[],
): Promise<LocationMessage[]> {
  const { tree, access, machinesOf } = deps;
  const owned = rows.filter((row) => access.allows(principal, 'location.manage', row.id)).map((row) => row.id);
  const auths = await readLocationAuths(deps, owned);
  return rows.map((row) => {
    const organization = tree.organization(row.organization_id);
    const readable = access.allows(principal, 'location.read', row.id);
    const machines = machinesOf(row.id);
    const seen = readable ? machines : machines.filter(({ id }) => access.allows(principal, 'machine.read', id));
    const seesParent = row.parent_id !== null && access.allows(principal, 'location.see', row.parent_id);
    const auth = auths.get(row.id);
    const region = row.region || (organization?.default_region ?? '');
    return {
      id: row.id,
      name: row.name,
      parentLocationId: seesParent ? (row.parent_id ?? '') : '',
      createdOn: timestampFromMs(row.created_ms),
      organizations: organizationsOn(deps, principal, row).map((id) => ({
        organizationId: id,
        primary: id === row.organization_id,
      })),
      primaryOrgIdentity: { id: row.organization_id, name: organization?.name ?? '' },
      robotCount: seen.length,
      ...(readable && region !== '' ? { config: { region } } : {}),
      ...(auth === undefined ? {} : { auth }),
    };
  });
}

/**
 * The organizations with access to a location, the owning one first. Callers who may read the location by a role that is not shared see
 * all of them; others see only the owning organization and their own.
 */
export function organizationsOn(
  deps: Pick<AccountsDeps, 'tree' | 'access'>,
  principal: Principal,
  row: LocationRow,
): readonly string[] {
  const shared = deps.tree.ancestors(row.id).flatMap((id) => deps.tree.sharedWith(id));
  const ownRoles = withoutShared(principal);
  const tellsAll = deps.access.allows(ownRoles, 'location.read', row.id);
  const own = organizationsOf(grantsOf(ownRoles));
  return [...new Set([row.organization_id, ...shared.filter((id) => tellsAll || own.includes(id))])];
}

/** Secrets of locations in plaintext, oldest first. The caller must own each of the locations. */
export async function readLocationAuths(
  deps: Pick<AccountsDeps, 'db' | 'instanceKey'>,
  locationIds: readonly string[],
): Promise<Map<string, LocationAuthMessage>> {
  const auths = new Map<string, LocationAuthMessage>();
  for (const ids of chunks(locationIds, rowsPerStatement)) {
    const all = await readLocationSecrets(deps, ids);
    for (const locationId of ids) {
      const secrets = all
        .filter((one) => one.locationId === locationId)
        .map(({ id, secret, createdMs }) => ({
          id,
          secret,
          createdOn: timestampFromMs(createdMs),
          state: SharedSecret_State.ENABLED,
        }));
      // Older clients read this single secret instead of the list.
      auths.set(locationId, { locationId, secret: secrets[0]?.secret ?? '', secrets });
    }
  }
  return auths;
}
