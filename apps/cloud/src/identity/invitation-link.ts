/** Who may change a pending invitation, and the link that goes with it. */
import { PlatformError } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { owns } from '../access/authorization-on-wire.ts';
import type { Principal } from '../access/principal.ts';
import { normalEmail } from './checked-email.ts';
import type { IdentityDeps } from './identity-deps.ts';
import { findInvitation, type Invitation, renewLink } from './invitations.ts';

/**
 * A pending invitation that the caller may change: who owns everything that it gives a role on (R7). To everybody else the
 * answer is the same whether there is one or not.
 *
 * @throws not_found, permission_denied
 */
export async function managedInvitation(
  deps: IdentityDeps,
  principal: Principal,
  organizationId: string,
  email: string,
): Promise<Invitation> {
  const invitation = await findInvitation(deps.db, deps.clock, { organizationId, email: normalEmail(email) });
  if (invitation?.grants.every((grant) => owns(deps.access, principal, grant))) return invitation;
  throw notManaged(deps, principal, organizationId, email);
}

/** For who may not change an invitation, or when there is none. */
export function notManaged(
  deps: Pick<IdentityDeps, 'access'>,
  principal: Principal,
  organizationId: string,
  email: string,
): PlatformError {
  deps.access.authorize(principal, 'organization.manage', organizationId);
  return new PlatformError(
    'not_found',
    `invitation: expected the address of a pending one in organization ${organizationId}, found ${JSON.stringify(normalEmail(email).slice(0, 80))}`,
  );
}

/** A new link, for an inviter who hands it on herself; the ones before stop working. @throws as `managedInvitation` */
export async function showInvitationLink(
  deps: IdentityDeps,
  by: Caller,
  target: { organizationId: string; email: string },
): Promise<{ link: string; expiresMs: number }> {
  const invitation = await managedInvitation(deps, by.principal, target.organizationId, target.email);
  const { organizationId, email } = invitation;
  // Whoever is shown a link could accept in the name of an address that is not hers.
  if (deps.mail !== undefined)
    throw new PlatformError(
      'failed_precondition',
      `invitation of ${email}: this installation mails invitations, so that only who has the address can accept; its link is not shown`,
    );
  const { token, expiresMs } = await deps.db.transaction().execute(async (trx) => {
    const renewed = await renewLink(trx, deps.clock, invitation, false);
    await audit(
      trx,
      by,
      { action: 'ShowInvitationLink', organizationId, targetKind: 'invitation', targetId: email },
      deps.clock.now(),
    );
    return renewed;
  });
  return { link: linkOf(deps, token), expiresMs };
}

/** Where the invitation with this token is accepted. */
export function linkOf(deps: Pick<IdentityDeps, 'publicUrl'>, token: string): string {
  return `${deps.publicUrl()}/invitations/accept?token=${token}`;
}
