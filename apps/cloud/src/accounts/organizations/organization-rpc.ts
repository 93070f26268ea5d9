/** Organizations in the API. */
import { fromJsonString, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { permissionDenied } from '@platform/base';
import {
  AllowedLoginMethodsSchema,
  type AppService,
  FragmentImportListSchema,
  type OrganizationSchema,
} from '@platform/proto/platform/app/v1/app';
import type { Access } from '../../access/authorize.ts';
import {
  type CloudHandlers,
  grantsOf,
  organizationsOf,
  type Principal,
  requireVisible,
  withoutShared,
} from '../../access/principal.ts';
import { checkedNamespace } from '../../text-rules/checked-namespace.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { OrganizationRow } from '../tree.ts';
import { createOrganization } from './create-organization.ts';
import { deleteOrganization } from './delete-organization.ts';
import { organizationDetails, searchOrganizations } from './search-organizations.ts';
import { holderOfNamespace, renameNamespace, updateOrganization } from './update-organization.ts';

export function organizationHandlers(deps: AccountsDeps): CloudHandlers<typeof AppService> {
  const { db, tree, access } = deps;
  const rowOf = (id: string): OrganizationRow => requireVisible(tree.organization(id), 'organization', id);
  return {
    async createOrganization(request, call) {
      // The caller becomes its owner only with the next call, so this answer is built without authorization.
      const { id, name, created_ms } = await createOrganization(deps, call, request.name);
      return { organization: { id, name, createdOn: timestampFromMs(created_ms) } };
    },
    listOrganizations(_request, { principal }) {
      if (principal.kind === 'part')
        throw permissionDenied("ListOrganizations: expected a person or an API key, found a part's credentials");
      const rows = organizationsOf(grantsOf(withoutShared(principal))).flatMap((id) => tree.organization(id) ?? []);
      const sorted = rows.toSorted((a, b) => a.created_ms - b.created_ms);
      return { organizations: sorted.map((row) => organizationMessage(access, principal, row)) };
    },
    getOrganization(request, { principal }) {
      access.authorize(principal, 'organization.see', request.organizationId);
      return { organization: organizationMessage(access, principal, rowOf(request.organizationId)) };
    },
    searchOrganizations: (request, { principal }) => ({
      organizations: searchOrganizations(deps, principal, request).map((row) =>
        organizationDetails(access, principal, row),
      ),
    }),
    async getOrganizationNamespaceAvailability(request, { principal }) {
      // Clients call this while they create an organization, before it has an id.
      if (request.organizationId !== '') access.authorize(principal, 'organization.manage', request.organizationId);
      else if (principal.kind === 'part')
        throw permissionDenied(
          "GetOrganizationNamespaceAvailability: expected a person or an API key, found a part's credentials",
        );
      const holder = await holderOfNamespace(db, checkedNamespace(request.publicNamespace));
      return { available: holder === undefined || holder === request.organizationId };
    },
    async updateOrganization(request, call) {
      access.authorize(call.principal, 'organization.manage', request.organizationId);
      const row = await updateOrganization(deps, call, request.organizationId, request);
      return { organization: organizationMessage(access, call.principal, row) };
    },
    async updateOrganizationNamespace(request, call) {
      access.authorize(call.principal, 'organization.manage', request.organizationId);
      const row = await renameNamespace(deps, call, request.organizationId, request.newPublicNamespace);
      return { organization: organizationMessage(access, call.principal, row) };
    },
    async deleteOrganization(request, call) {
      access.authorize(call.principal, 'organization.manage', request.organizationId);
      await deleteOrganization(deps, call, request.organizationId);
    },
  };
}

/** A role on the organization shows its settings. A role only beneath it, or through a shared location, shows just its name (R4). */
function organizationMessage(
  access: Access,
  principal: Principal,
  row: OrganizationRow,
): MessageInitShape<typeof OrganizationSchema> {
  const base = { id: row.id, name: row.name, createdOn: timestampFromMs(row.created_ms) };
  if (!access.allows(principal, 'organization.read', row.id)) return base;
  return {
    ...base,
    publicNamespace: row.public_namespace ?? '',
    defaultRegion: row.default_region,
    ...(row.cid === null ? {} : { cid: row.cid }),
    ...(row.default_fragments === null
      ? {}
      : { defaultFragments: fromJsonString(FragmentImportListSchema, row.default_fragments) }),
    ...(row.login_methods === null
      ? {}
      : { allowedLoginMethods: fromJsonString(AllowedLoginMethodsSchema, row.login_methods) }),
  };
}
