/** The account half of AppService: wire to verb. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AppService, LocationSchema, OrganizationSchema } from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import { holds, notVisible, type Principal, sees } from '../access/principal.ts';
import type { AccountTree } from './tree.ts';

/** Handlers of AppService that need the account tree alone. */
export function accountHandlers(tree: AccountTree): Handlers<typeof AppService, Principal> {
  const organizationOf = (id: string): MessageInitShape<typeof OrganizationSchema> => {
    const row = tree.organization(id);
    if (row === undefined) throw notVisible('organization', id);
    return { id: row.id, name: row.name, createdOn: timestampFromMs(row.created_ms) };
  };
  const locationOf = (id: string): MessageInitShape<typeof LocationSchema> => {
    const row = tree.location(id);
    if (row === undefined) throw notVisible('location', id);
    return {
      id: row.id,
      name: row.name,
      parentLocationId: row.parent_id ?? '',
      createdOn: timestampFromMs(row.created_ms),
      organizations: [{ organizationId: row.organization_id, primary: true }],
      primaryOrgIdentity: { id: row.organization_id, name: tree.organization(row.organization_id)?.name ?? '' },
    };
  };
  const mayOperate = (principal: Principal, locationId: string): boolean => {
    const row = tree.location(locationId);
    return (
      row !== undefined &&
      holds(principal, 'operator', { organizationId: row.organization_id, locationIds: tree.ancestors(locationId) })
    );
  };
  return {
    listOrganizations(_request, call) {
      const visible = tree.organizations().filter((row) => sees(call.principal, row.id));
      return { organizations: visible.map((row) => organizationOf(row.id)) };
    },
    getOrganization(request, call) {
      if (!sees(call.principal, request.organizationId)) throw notVisible('organization', request.organizationId);
      return { organization: organizationOf(request.organizationId) };
    },
    listLocations(request, call) {
      if (!sees(call.principal, request.organizationId)) throw notVisible('organization', request.organizationId);
      const visible = tree.locationsOf(request.organizationId).filter((row) => mayOperate(call.principal, row.id));
      return { locations: visible.map((row) => locationOf(row.id)) };
    },
    getLocation(request, call) {
      if (!mayOperate(call.principal, request.locationId)) throw notVisible('location', request.locationId);
      return { location: locationOf(request.locationId) };
    },
  };
}
