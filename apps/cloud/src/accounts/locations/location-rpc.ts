/** Locations, their secrets and their sharing in the API. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AppService, LocationAuthSchema, LocationSchema } from '@platform/proto/platform/app/v1/app';
import {
  type CloudHandlers,
  grantsOf,
  organizationsOf,
  type Principal,
  requireId,
  requireVisible,
} from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { LocationRow } from '../tree.ts';
import { createLocation } from './create-location.ts';
import { deleteLocation } from './delete-location.ts';
import { locationMessages, organizationsOn, readLocationAuths } from './location-message.ts';
import { createLocationSecret, deleteLocationSecret } from './location-secrets.ts';
import { shareLocation, unshareLocation } from './share-location.ts';
import { updateLocation } from './update-location.ts';

export function locationHandlers(deps: AccountsDeps): CloudHandlers<typeof AppService> {
  const { tree, access } = deps;
  const rowOf = (id: string): LocationRow => requireVisible(tree.location(id), 'location', id);
  const messageOf = async (
    principal: Principal,
    row: LocationRow,
  ): Promise<{ location?: MessageInitShape<typeof LocationSchema> }> => {
    const [location] = await locationMessages(deps, principal, [row]);
    return location === undefined ? {} : { location };
  };
  const authOf = async (id: string): Promise<{ auth: MessageInitShape<typeof LocationAuthSchema> }> => ({
    auth: requireVisible((await readLocationAuths(deps, [id])).get(id), 'location', id),
  });
  return {
    async createLocation(request, call) {
      const { organizationId, name, parentLocationId = '' } = request;
      const parentId = parentLocationId === '' ? null : parentLocationId;
      return messageOf(call.principal, await createLocation(deps, call, { organizationId, parentId, name }));
    },
    async getLocation(request, { principal }) {
      requireId('location_id', request.locationId, 'ListLocations');
      access.authorize(principal, 'location.see', request.locationId);
      return messageOf(principal, rowOf(request.locationId));
    },
    async listLocations(request, { principal }) {
      access.authorize(principal, 'organization.see', request.organizationId);
      const rows = listLocations(deps, principal, request.organizationId);
      return { locations: await locationMessages(deps, principal, rows) };
    },
    async updateLocation(request, call) {
      const { locationId, name, parentLocationId, region } = request;
      const parentId = parentLocationId === '' ? null : parentLocationId;
      return messageOf(call.principal, await updateLocation(deps, call, locationId, { name, parentId, region }));
    },
    async deleteLocation(request, call) {
      access.authorize(call.principal, 'location.manage', request.locationId);
      await deleteLocation(deps, call, request.locationId);
    },
    async shareLocation(request, call) {
      access.authorize(call.principal, 'location.manage', request.locationId);
      await shareLocation(deps, call, request.locationId, request.organizationId);
    },
    async unshareLocation(request, call) {
      access.authorize(call.principal, 'location.manage', request.locationId);
      await unshareLocation(deps, call, request.locationId, request.organizationId);
    },
    getOrganizationsWithAccessToLocation(request, { principal }) {
      access.authorize(principal, 'location.see', request.locationId);
      // Only callers who see an organization get its name (R3); an id alone does not reveal whether it exists.
      const seen = organizationsOf(grantsOf(principal));
      return {
        organizationIdentities: organizationsOn(deps, principal, rowOf(request.locationId)).map((id) => ({
          id,
          name: seen.includes(id) ? (tree.organization(id)?.name ?? '') : '',
        })),
      };
    },
    async locationAuth(request, { principal }) {
      access.authorize(principal, 'location.manage', request.locationId);
      return authOf(request.locationId);
    },
    async createLocationSecret(request, call) {
      access.authorize(call.principal, 'location.manage', request.locationId);
      await createLocationSecret(deps, call, request.locationId);
      return authOf(request.locationId);
    },
    async deleteLocationSecret(request, call) {
      access.authorize(call.principal, 'location.manage', request.locationId);
      await deleteLocationSecret(deps, call, request.locationId, request.secretId);
    },
  };
}

/** The locations that a caller who may see the organization may see, including those shared with it. */
function listLocations(
  { tree, access }: Pick<AccountsDeps, 'tree' | 'access'>,
  principal: Principal,
  organizationId: string,
): readonly LocationRow[] {
  const shared = tree
    .sharesTo(organizationId)
    .flatMap((share) => tree.descendants(share.locationId))
    .flatMap((id) => tree.location(id) ?? []);
  const own = tree.locationsOf(organizationId).toSorted((a, b) => a.created_ms - b.created_ms);
  return [...new Set([...own, ...shared])].filter((row) => access.allows(principal, 'location.see', row.id));
}
