/** Invitations in AppService (R7): a caller who grants a role must own its target. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  alreadyExists,
  failedPrecondition,
  invalidArgument,
  type PlatformError,
  resourceExhausted,
} from '@platform/base';
import type { AppService, Authorization, OrganizationInviteSchema } from '@platform/proto/platform/app/v1/app';
import type { Call } from '@platform/rpc/server';
import { audit, type Caller } from '../../access/audit.ts';
import { authorizationOf, grantText, owns, readGrant } from '../../access/authorization-on-wire.ts';
import { sameTarget } from '../../access/grants.ts';
import type { CloudHandlers, Grant, Principal } from '../../access/principal.ts';
import { countRows } from '../../metadata/count-rows.ts';
import type { Database } from '../../metadata/tables.ts';
import { checkedEmail, normalEmail } from '../../text-rules/checked-email.ts';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { isMember } from '../members.ts';
import { managedInvitation, notManaged } from './invitation-link.ts';
import { invitationMail } from './invitation-mail.ts';
import { admitMail } from './invitation-mail-limits.ts';
import {
  deleteInvitation,
  findInvitation,
  type Invitation,
  insertInvitation,
  renewLink,
  replaceGrants,
} from './stored-invitations.ts';

const maxPending = 1_000;
const maxGrants = 100;

export function invitationHandlers(deps: IdentityOperationDeps): CloudHandlers<typeof AppService> {
  const { db, clock, access, mail } = deps;

  /** Writes the audit entry, in the transaction of the change. */
  const recorded = (
    trx: Database,
    call: Caller,
    operation: string,
    { organizationId, email }: Pick<Invitation, 'organizationId' | 'email'>,
    detail: Record<string, unknown> = {},
  ): Promise<void> =>
    audit(trx, call, clock.now(), `AppService.${operation}`, ['invitation', email, organizationId], detail);

  const readsMembers = (principal: Principal, organizationId: string): boolean =>
    access.allows(principal, 'organization.read', organizationId);

  /** Whether to mail now. @throws resource_exhausted */
  const admitted = (trx: Database, { principal }: Caller, to: Pick<Invitation, 'organizationId' | 'email'>) =>
    admitMail(deps, trx, to, {
      by: principal.kind === 'person' ? principal.personId : principal.kind === 'key' ? principal.keyId : '',
      readsMembers: readsMembers(principal, to.organizationId),
    });

  const grantsFrom = (principal: Principal, organizationId: string, given: readonly Authorization[]): Grant[] => {
    requireAtMost('authorizations', maxGrants, given.length);
    const grants = given.map((authorization) => readGrant(access, principal, authorization));
    const foreign = grants.find((grant) => grant.organizationId !== organizationId);
    if (foreign !== undefined)
      throw invalidArgument(
        `authorizations: expected roles in organization ${organizationId}, found ${grantText(foreign)}, which belongs to another one`,
      );
    return grants.filter((grant, at) => at === grants.findIndex((one) => same(one, grant)));
  };

  /** The roles of an invitation that the caller may see. */
  const told = (principal: Principal, organizationId: string, grants: readonly Grant[]): readonly Grant[] =>
    readsMembers(principal, organizationId) ? grants : grants.filter((grant) => owns(access, principal, grant));

  /** Counts only roles that the caller may see. */
  const requireFew = (
    principal: Principal,
    { organizationId, email }: Pick<Invitation, 'organizationId' | 'email'>,
    grants: readonly Grant[],
  ): void => {
    const count = told(principal, organizationId, grants).length;
    if (count === 0 || count > maxGrants)
      throw failedPrecondition(
        `invitation of ${email}: expected 1 to ${maxGrants} roles to remain, found ${count}; to withdraw the invitation, delete it`,
      );
  };

  return {
    async createOrganizationInvite(request, call) {
      const { organizationId } = request;
      access.authorize(call.principal, 'organization.see', organizationId);
      if (request.authorizations.length === 0) access.authorize(call.principal, 'organization.manage', organizationId);
      const grants: readonly Grant[] =
        request.authorizations.length === 0
          ? [{ role: 'owner', organizationId, locationId: null, robotId: null }]
          : grantsFrom(call.principal, organizationId, request.authorizations);
      const email = checkedEmail(request.email);
      const mailed = mail !== undefined && request.sendEmailInvite !== false;
      const target = { organizationId, email };
      const invite = await db.transaction().execute(async (trx) => {
        await requireCapacity(trx, organizationId);
        const pending = await findInvitation(trx, clock, target);
        // A caller who may not read the members must not learn who is a member or invited. A member who accepts gets the roles in addition
        // to their own; a pending invitation gets them added.
        if (readsMembers(call.principal, organizationId)) {
          if (pending !== undefined) throw alreadyInvited(email);
          await requireNoMember(trx, organizationId, email);
        }
        const others = pending?.grants.filter((grant) => !grants.some((one) => same(one, grant))) ?? [];
        requireFew(call.principal, target, [...others, ...grants]);
        const createdMs = clock.now();
        const sends = mailed && (await admitted(trx, call, target));
        if (pending !== undefined && !sends) await replaceGrants(trx, target, [...others, ...grants], createdMs);
        else {
          const invitedBy = call.principal.kind === 'person' ? call.principal.email : '';
          const full = { ...target, grants: [...others, ...grants], mailed: sends, invitedBy };
          const token = await insertInvitation(trx, clock, full);
          if (sends) await mail.enqueue(trx, invitationMail(deps, full, token));
        }
        await recorded(trx, call, 'CreateOrganizationInvite', target, { grants: grants.map(grantText), mailed: sends });
        return { ...target, grants, createdMs, sends };
      });
      tellMailed(call, invite.sends);
      mail?.wake();
      return { invite: inviteOf(invite) };
    },

    async updateOrganizationInviteAuthorizations(request, call) {
      const { organizationId, addAuthorizations, removeAuthorizations } = request;
      access.authorize(call.principal, 'organization.see', organizationId);
      if (addAuthorizations.length + removeAuthorizations.length === 0)
        access.authorize(call.principal, 'organization.manage', organizationId);
      const added = grantsFrom(call.principal, organizationId, addAuthorizations);
      const removed = grantsFrom(call.principal, organizationId, removeAuthorizations);
      const invitation = { organizationId, email: normalEmail(request.email) };
      const changed = await db.transaction().execute(async (trx) => {
        const current = readsMembers(call.principal, organizationId)
          ? await findInvitation(trx, clock, invitation)
          : (await managedInvitation(deps, trx, call.principal, organizationId, request.email)).invitation;
        if (current === undefined) throw notManaged(deps, call.principal, organizationId, request.email);
        const kept = current.grants.filter((grant) => !removed.some((one) => same(one, grant)));
        const fresh = added.filter((grant) => !kept.some((one) => same(one, grant)));
        const grants = [...kept, ...fresh];
        requireFew(call.principal, invitation, grants);
        await replaceGrants(trx, invitation, grants);
        await recorded(trx, call, 'UpdateOrganizationInviteAuthorizations', invitation, {
          added: fresh.map(grantText),
          removed: removed.map(grantText),
        });
        return { ...current, grants };
      });
      return { invite: inviteOf({ ...changed, grants: told(call.principal, organizationId, changed.grants) }) };
    },

    async deleteOrganizationInvite(request, call) {
      const { organizationId } = request;
      await db.transaction().execute(async (trx) => {
        const managed = await managedInvitation(deps, trx, call.principal, organizationId, request.email);
        const { email } = managed.invitation;
        if (managed.others.length === 0) await deleteInvitation(trx, organizationId, email);
        else await replaceGrants(trx, managed.invitation, managed.others);
        await recorded(trx, call, 'DeleteOrganizationInvite', managed.invitation, {
          grants: managed.hers.map(grantText),
        });
      });
    },

    async resendOrganizationInvite(request, call) {
      const { organizationId } = request;
      const mailed = mail !== undefined && request.sendEmailInvite !== false;
      const invite = await db.transaction().execute(async (trx) => {
        const managed = await managedInvitation(deps, trx, call.principal, organizationId, request.email);
        const { invitation, others } = managed;
        const sends = mailed && (await admitted(trx, call, invitation));
        // A link that others pass on, or that was mailed, stays valid.
        if (sends || (!mailed && others.length === 0)) {
          const { token } = await renewLink(trx, clock, invitation, sends);
          const invitedBy = call.principal.kind === 'person' ? call.principal.email : '';
          if (sends) await mail.enqueue(trx, invitationMail(deps, { ...invitation, invitedBy }, token));
        }
        await recorded(trx, call, 'ResendOrganizationInvite', invitation, { mailed: sends });
        return { ...invitation, grants: told(call.principal, organizationId, invitation.grants), sends };
      });
      tellMailed(call, invite.sends);
      mail?.wake();
      return { invite: inviteOf(invite) };
    },
  };
}

/** Whether the invitation was mailed; otherwise someone must pass on its link. */
function tellMailed({ responseHeaders }: Pick<Call, 'responseHeaders'>, isMailed: boolean): void {
  responseHeaders.set('platform-mailed', String(isMailed));
}

export function inviteOf(
  invitation: Pick<Invitation, 'organizationId' | 'email' | 'grants' | 'createdMs'>,
): MessageInitShape<typeof OrganizationInviteSchema> {
  const { organizationId, email, grants, createdMs } = invitation;
  return {
    organizationId,
    email,
    createdOn: timestampFromMs(createdMs),
    // No one holds these roles yet.
    authorizations: grants.map((grant) => ({
      ...authorizationOf({ ...grant, identity: { type: 'person', id: '' } }),
    })),
  };
}

function same(a: Grant, b: Grant): boolean {
  return a.role === b.role && sameTarget(a, b);
}

async function requireCapacity(trx: Database, organizationId: string): Promise<void> {
  const count = await countRows(trx.selectFrom('invitations').where('organization_id', '=', organizationId));
  if (count >= maxPending)
    throw resourceExhausted(
      `organization ${organizationId}: expected fewer than ${maxPending} pending invitations, found ${count}; delete some`,
    );
}

function alreadyInvited(email: string): PlatformError {
  return alreadyExists(
    `invitation: ${email} is already invited to this organization; resend, change or delete that invitation`,
  );
}

async function requireNoMember(trx: Database, organizationId: string, email: string): Promise<void> {
  if (!(await isMember(trx, organizationId, email))) return;
  throw alreadyExists(`invitation: ${email} is already a member of this organization; grant roles instead (AddRole)`);
}
