/** Invitations in AppService (R7): whoever gives a role owns what it is on. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import type { AppService, Authorization, OrganizationInviteSchema } from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import { audit, type Caller } from '../access/audit.ts';
import { authorizationOf, grantText, owns, readGrant } from '../access/authorization-on-wire.ts';
import { sameTarget } from '../access/grants.ts';
import type { Grant, Principal } from '../access/principal.ts';
import type { Mail } from '../mail/feature.ts';
import type { Database } from '../metadata/tables.ts';
import { checkedEmail, normalEmail } from './checked-email.ts';
import type { IdentityDeps } from './identity-deps.ts';
import { managedInvitation, notManaged } from './invitation-link.ts';
import { invitationMail } from './invitation-mail.ts';
import { countMail, requireApart } from './invitation-mail-limits.ts';
import {
  deleteInvitation,
  findInvitation,
  type Invitation,
  insertInvitation,
  renewLink,
  replaceGrants,
} from './invitations.ts';
import { isMember } from './members.ts';

const maxPending = 1_000;
const maxGrants = 100;

export function invitationHandlers(deps: IdentityDeps): Handlers<typeof AppService, Principal> {
  const { db, clock, access, mail } = deps;

  /** In the transaction of the change itself. */
  const recorded = (
    trx: Database,
    call: Caller,
    operation: string,
    { organizationId, email }: Pick<Invitation, 'organizationId' | 'email'>,
    detail: Record<string, unknown> = {},
  ): Promise<void> =>
    audit(
      trx,
      call,
      { action: `AppService.${operation}`, organizationId, targetKind: 'invitation', targetId: email, detail },
      clock.now(),
    );

  /** @throws resource_exhausted */
  const send = async (
    trx: Database,
    through: Mail,
    to: { organizationId: string; email: string; invitedBy: string },
    token: string,
  ): Promise<void> => {
    await requireApart(deps, trx, to);
    await countMail(deps, trx, to);
    await through.enqueue(trx, invitationMail(deps, to, token));
  };

  const grantsFrom = (principal: Principal, organizationId: string, given: readonly Authorization[]): Grant[] => {
    if (given.length > maxGrants)
      throw new PlatformError(
        'invalid_argument',
        `authorizations: expected at most ${maxGrants}, found ${given.length}`,
      );
    const grants = given.map((authorization) => readGrant(access, principal, authorization));
    const foreign = grants.find((grant) => grant.organizationId !== organizationId);
    if (foreign !== undefined)
      throw new PlatformError(
        'invalid_argument',
        `authorizations: expected roles in organization ${organizationId}, found ${grantText(foreign)}, which is another's`,
      );
    return grants.filter((grant, at) => at === grants.findIndex((one) => same(one, grant)));
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
      const invite = await db.transaction().execute(async (trx) => {
        await requireRoom(trx, organizationId);
        await requireNoInvitation(deps, trx, organizationId, email);
        // Who may not read the members is not told of them: a member who accepts gets the roles on top of hers.
        if (access.allows(call.principal, 'organization.read', organizationId))
          await requireNoMember(trx, organizationId, email);
        const by = call.principal.kind === 'person' ? call.principal.email : '';
        const token = await insertInvitation(trx, clock, { organizationId, email, grants, mailed, invitedBy: by });
        if (mailed) await send(trx, mail, { organizationId, email, invitedBy: by }, token);
        const target = { organizationId, email };
        await recorded(trx, call, 'CreateOrganizationInvite', target, { grants: grants.map(grantText), mailed });
        return { organizationId, email, grants, createdMs: clock.now() };
      });
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
        const current = await findInvitation(trx, clock, invitation);
        if (current === undefined) throw notManaged(deps, call.principal, organizationId, request.email);
        const kept = current.grants.filter((grant) => !removed.some((one) => same(one, grant)));
        const fresh = added.filter((grant) => !kept.some((one) => same(one, grant)));
        const grants = [...kept, ...fresh];
        if (grants.length === 0 || grants.length > maxGrants)
          throw new PlatformError(
            'failed_precondition',
            `invitation of ${invitation.email}: expected 1 to ${maxGrants} roles to remain, found ${grants.length}; to take it back, delete it`,
          );
        await replaceGrants(trx, invitation, grants);
        await recorded(trx, call, 'UpdateOrganizationInviteAuthorizations', invitation, {
          added: fresh.map(grantText),
          removed: removed.map(grantText),
        });
        return { ...current, grants };
      });
      const readsAll = access.allows(call.principal, 'organization.read', organizationId);
      const grants = changed.grants.filter((grant) => readsAll || owns(access, call.principal, grant));
      return { invite: inviteOf({ ...changed, grants }) };
    },

    async deleteOrganizationInvite(request, call) {
      const { organizationId } = request;
      const { email } = await managedInvitation(deps, call.principal, organizationId, request.email);
      await db.transaction().execute(async (trx) => {
        if (!(await deleteInvitation(trx, organizationId, email)))
          throw notManaged(deps, call.principal, organizationId, email);
        await recorded(trx, call, 'DeleteOrganizationInvite', { organizationId, email });
      });
      return {};
    },

    async resendOrganizationInvite(request, call) {
      const { organizationId } = request;
      const invitation = await managedInvitation(deps, call.principal, organizationId, request.email);
      const mailed = mail !== undefined && request.sendEmailInvite !== false;
      await db.transaction().execute(async (trx) => {
        const { token } = await renewLink(trx, clock, invitation, mailed);
        const by = call.principal.kind === 'person' ? call.principal.email : '';
        if (mailed) await send(trx, mail, { ...invitation, invitedBy: by }, token);
        await recorded(trx, call, 'ResendOrganizationInvite', invitation, { mailed });
      });
      mail?.wake();
      return { invite: inviteOf(invitation) };
    },
  };
}

export function inviteOf(
  invitation: Pick<Invitation, 'organizationId' | 'email' | 'grants' | 'createdMs'>,
): MessageInitShape<typeof OrganizationInviteSchema> {
  const { organizationId, email, grants, createdMs } = invitation;
  return {
    organizationId,
    email,
    createdOn: timestampFromMs(createdMs),
    // Nobody holds them yet.
    authorizations: grants.map((grant) => ({
      ...authorizationOf({ ...grant, identity: { type: 'person', id: '' } }),
    })),
  };
}

function same(a: Grant, b: Grant): boolean {
  return a.role === b.role && sameTarget(a, b);
}

async function requireRoom(trx: Database, organizationId: string): Promise<void> {
  const { count } = await trx
    .selectFrom('invitations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= maxPending)
    throw new PlatformError(
      'resource_exhausted',
      `organization ${organizationId}: expected fewer than ${maxPending} pending invitations, found ${count}; delete some`,
    );
}

async function requireNoInvitation(
  deps: IdentityDeps,
  trx: Database,
  organizationId: string,
  email: string,
): Promise<void> {
  if ((await findInvitation(trx, deps.clock, { organizationId, email })) === undefined) return;
  throw new PlatformError(
    'already_exists',
    `invitation: ${email} is invited to this organization already; resend, change or delete that invitation`,
  );
}

async function requireNoMember(trx: Database, organizationId: string, email: string): Promise<void> {
  if (!(await isMember(trx, organizationId, email))) return;
  throw new PlatformError(
    'already_exists',
    `invitation: ${email} is a member of this organization already; give her roles instead (AddRole)`,
  );
}
