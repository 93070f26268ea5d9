/** Rights to change a pending invitation, and its link. */
import { failedPrecondition, notFound, type PlatformError } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { owns } from '../../access/authorization-on-wire.ts';
import type { Grant, Principal } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { normalEmail } from '../../text-rules/checked-email.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { findInvitation, type Invitation, renewLink } from './stored-invitations.ts';

/** A pending invitation, split by what its caller may change. */
export interface ManagedInvitation {
  readonly invitation: Invitation;
  /** The roles in it that the caller may change. The others are not shown to the caller. */
  readonly hers: readonly Grant[];
  readonly others: readonly Grant[];
}

/**
 * Reads a pending invitation in which the caller may change a role, because they own its target (R7). Everyone else gets the same answer
 * whether or not there is an invitation.
 *
 * @throws not_found, permission_denied
 */
export async function managedInvitation(
  deps: Pick<IdentityOperationDeps, 'access' | 'clock'>,
  db: Database,
  principal: Principal,
  organizationId: string,
  email: string,
): Promise<ManagedInvitation> {
  const invitation = await findInvitation(db, deps.clock, { organizationId, email: normalEmail(email) });
  const isHers = (grant: Grant): boolean => owns(deps.access, principal, grant);
  const hers = invitation?.grants.filter(isHers) ?? [];
  if (invitation === undefined || hers.length === 0) throw notManaged(deps, principal, organizationId, email);
  return { invitation, hers, others: invitation.grants.filter((grant) => !isHers(grant)) };
}

/** The error if there is no invitation, or the caller may not change it. */
export function notManaged(
  deps: Pick<IdentityOperationDeps, 'access'>,
  principal: Principal,
  organizationId: string,
  email: string,
): PlatformError {
  deps.access.authorize(principal, 'organization.manage', organizationId);
  return notFound(
    `invitation: expected the address of a pending one in organization ${organizationId}, found ${JSON.stringify(normalEmail(email).slice(0, 80))}`,
  );
}

/** Creates a new link for an inviter who passes it on personally; earlier links stop working. @throws like `managedInvitation` */
export async function showInvitationLink(
  deps: IdentityOperationDeps,
  by: Caller,
  target: { organizationId: string; email: string },
): Promise<{ link: string; expiresMs: number }> {
  const { organizationId, email } = target;
  const { invitation, others } = await managedInvitation(deps, deps.db, by.principal, organizationId, email);
  // With the link they could accept roles that they may not grant.
  if (others.length > 0) throw notManaged(deps, by.principal, organizationId, email);
  // With the link they could accept in the name of someone else's address.
  if (deps.mail !== undefined)
    throw failedPrecondition(
      `invitation of ${invitation.email}: this installation mails invitations, so that only the owner of the address can accept; the link is not shown`,
    );
  const { token, expiresMs } = await deps.db.transaction().execute(async (trx) => {
    const renewed = await renewLink(trx, deps.clock, invitation, false);
    await audit(trx, by, deps.clock.now(), 'ShowInvitationLink', ['invitation', invitation.email, organizationId]);
    return renewed;
  });
  return { link: linkOf(deps, token), expiresMs };
}

/** Address at which the invitation with this token is accepted. */
export function linkOf(deps: Pick<IdentityOperationDeps, 'publicUrl'>, token: string): string {
  return `${deps.publicUrl()}/invitations/accept?token=${token}`;
}
