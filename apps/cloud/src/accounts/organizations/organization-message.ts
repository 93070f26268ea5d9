/** Builds the message for an organization as its caller may see it. */
import { fromJsonString, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  AllowedLoginMethodsSchema,
  FragmentImportListSchema,
  type OrganizationSchema,
} from '@platform/proto/platform/app/v1/app';
import type { Access } from '../../access/authorize.ts';
import type { Principal } from '../../access/principal.ts';
import type { OrganizationRow } from '../tree.ts';

/** A role on the organization shows its settings. A role only beneath it, or through a shared location, shows just its name (R4). */
export function organizationMessage(
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
