/** Members and people in AppService (R12). */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, holds, notVisible, type Principal, requireVisible } from '../access/principal.ts';
import { organizationDetails } from '../accounts/organizations/search-organizations.ts';
import { normalEmail } from '../text-rules/checked-email.ts';
import type { IdentityOperationDeps } from './identity-deps.ts';
import { inviteOf } from './invitations/invitation-rpc.ts';
import { invitationsIn } from './invitations/stored-invitations.ts';
import { membersOf, organizationIdsOf, removeMember } from './members.ts';
import { findPerson } from './people.ts';

export function memberHandlers(deps: IdentityOperationDeps): CloudHandlers<typeof AppService> {
  const { db, clock, access, tree } = deps;

  /** The organizations of a person that the caller may know: all for the person's own query, otherwise those that the caller owns. */
  const knownOrganizations = async (principal: Principal, personId: string): Promise<readonly string[] | undefined> => {
    const ids = await organizationIdsOf(db, personId);
    if (principal.kind === 'person' && principal.personId === personId) return ids;
    const owned = ids.filter((organizationId) => holds(principal, 'owner', { organizationId, locationIds: [] }));
    return owned.length === 0 ? undefined : owned;
  };

  return {
    async listOrganizationMembers({ organizationId }, call) {
      access.authorize(call.principal, 'organization.read', organizationId);
      const organization = requireVisible(tree.organization(organizationId), 'organization', organizationId);
      const members = await membersOf(db, organization);
      const invitations = await invitationsIn(db, clock, organizationId);
      return {
        organizationId,
        members: members.map((member) => ({
          userId: member.personId,
          emails: member.email === '' ? [] : [member.email],
          dateAdded: timestampFromMs(member.addedMs),
          ...(member.lastSignInMs !== undefined && { lastLogin: timestampFromMs(member.lastSignInMs) }),
          ...(member.lastUsedMs !== undefined && { lastAccess: timestampFromMs(member.lastUsedMs) }),
        })),
        invites: invitations.map(inviteOf),
      };
    },

    async deleteOrganizationMember({ organizationId, userId }, call) {
      const { principal } = call;
      const herself = principal.kind === 'person' && principal.personId === userId;
      access.authorize(principal, herself ? 'organization.see' : 'organization.manage', organizationId);
      await removeMember(deps, call, organizationId, userId);
    },

    async getUserIDByEmail({ email }, call) {
      const normal = normalEmail(email);
      const person = normal === '' ? undefined : await findPerson(db, { email: normal });
      const known = person && (await knownOrganizations(call.principal, person.id));
      if (person === undefined || known === undefined) throw notVisible('person', normal);
      return { userId: person.id };
    },

    async listOrganizationsByUser({ userId }, call) {
      const known = await knownOrganizations(call.principal, userId);
      if (known === undefined) throw notVisible('person', userId);
      return {
        orgs: known.flatMap((id) => {
          const organization = tree.organization(id);
          if (organization === undefined) return [];
          return [organizationDetails(access, call.principal, organization)];
        }),
      };
    },
  };
}
