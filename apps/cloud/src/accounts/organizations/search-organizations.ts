/** Finds organizations among those that the caller may know of (R12). */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { OrgDetailsSchema } from '@platform/proto/platform/app/v1/app';
import type { Access } from '../../access/authorize.ts';
import { grantsOf, organizationsOf, type Principal } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { OrganizationRow } from '../tree.ts';

/** All given fields must match; empty ones match everything. `orgName`: a part of the name, ignoring case. */
export interface OrganizationSearch {
  readonly orgId?: string | undefined;
  readonly orgName?: string | undefined;
  readonly cid?: string | undefined;
  readonly publicNamespace?: string | undefined;
}

export function searchOrganizations(
  { tree, access }: Pick<AccountsDeps, 'tree' | 'access'>,
  principal: Principal,
  search: OrganizationSearch,
): readonly OrganizationRow[] {
  const { orgId = '', orgName = '', cid = '', publicNamespace = '' } = search;
  const name = orgName.trim().toLowerCase();
  return organizationsOf(grantsOf(principal))
    .flatMap((id) => tree.organization(id) ?? [])
    .filter((row) => {
      if (orgId !== '' && row.id !== orgId) return false;
      if (!row.name.toLowerCase().includes(name)) return false;
      if (cid === '' && publicNamespace === '') return true;
      // A caller who may not read a setting must not be able to guess it by searching.
      if (!access.allows(principal, 'organization.read', row.id)) return false;
      return (cid === '' || row.cid === cid) && (publicNamespace === '' || row.public_namespace === publicNamespace);
    });
}

/** The short form of an organization for lists; includes settings if the caller has a role on it. */
export function organizationDetails(
  access: Access,
  principal: Principal,
  row: OrganizationRow,
): MessageInitShape<typeof OrgDetailsSchema> {
  const base = { orgId: row.id, orgName: row.name };
  if (!access.allows(principal, 'organization.read', row.id)) return base;
  return {
    ...base,
    ...(row.cid === null ? {} : { orgCid: row.cid }),
    ...(row.public_namespace === null ? {} : { publicNamespace: row.public_namespace }),
  };
}
