/** Roles in the API: AddRole, RemoveRole, ChangeRole, ListAuthorizations, CheckPermissions. */
import { invalidArgument, permissionDenied } from '@platform/base';
import type { AppService, Authorization } from '@platform/proto/platform/app/v1/app';
import { requireAtMost } from '../text-rules/require-at-most.ts';
import { authorizationOf, owns, resourceKindOf, resourceOf } from './authorization-on-wire.ts';
import { addRole, changeRole, type RoleDeps, removeRole } from './change-role.ts';
import { grantsIn } from './grants.ts';
import { requireAnOwner } from './list-keys.ts';
import { roleFor } from './permissions.ts';
import { type CloudHandlers, holds } from './principal.ts';

const maxPermissionChecks = 1_000;

export function roleHandlers(deps: RoleDeps): CloudHandlers<typeof AppService> {
  const { db, access } = deps;
  return {
    async addRole(request, call) {
      await addRole(deps, call, given(request.authorization, 'authorization'));
    },
    async removeRole(request, call) {
      await removeRole(deps, call, given(request.authorization, 'authorization'));
    },
    async changeRole(request, call) {
      const from = given(request.oldAuthorization, 'old_authorization');
      await changeRole(deps, call, from, given(request.newAuthorization, 'new_authorization'));
    },
    async listAuthorizations(request, call) {
      requireAnOwner(access, call.principal, request.organizationId);
      const wanted = new Set(request.resourceIds);
      const held = (await grantsIn(db, request.organizationId))
        .filter((grant) => owns(access, call.principal, grant))
        .filter((grant) => wanted.size === 0 || wanted.has(resourceOf(grant).id));
      return { authorizations: held.map(authorizationOf) };
    },
    checkPermissions(request, call) {
      const { principal } = call;
      if (principal.kind === 'part')
        throw permissionDenied(
          'CheckPermissions: expected an API key or a person, found the credentials of a part, which has no roles',
        );
      const asked = request.permissions.reduce((sum, entry) => sum + entry.permissions.length + 1, 0);
      requireAtMost('permissions', maxPermissionChecks, asked, ' permissions in one call');
      const answers = request.permissions.map(({ resourceType, resourceId, permissions }) => {
        const kind = resourceKindOf(resourceType);
        const lineage = kind === undefined ? undefined : access.lineageOf(kind, resourceId);
        const isHeld = (permission: string): boolean => {
          const role = kind === undefined ? undefined : roleFor(permission, kind);
          return role !== undefined && lineage !== undefined && holds(principal, role, lineage);
        };
        return { resourceType, resourceId, permissions: permissions.filter(isHeld) };
      });
      return { authorizedPermissions: answers };
    },
  };
}

function given(authorization: Authorization | undefined, field: string): Authorization {
  if (authorization !== undefined) return authorization;
  throw invalidArgument(`${field}: expected an authorization, found none`);
}
