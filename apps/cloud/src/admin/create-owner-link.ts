/** Creates a one-time link for an owner who cannot sign in (D30): to set a new password or, if they have no address yet, to sign in. */
import { type Clock, notFound } from '@platform/base';
import { audit, type OwnActor } from '../access/audit.ts';
import { ownerOf } from '../identity/members.ts';
import { createLink, linkLifeMs } from '../identity/sign-in/links.ts';
import type { Database } from '../metadata/tables.ts';

export interface OwnerLink {
  /** Path and query, relative to the cloud's address. */
  readonly path: string;
  readonly personId: string;
  /** Null: the owner has no address yet. */
  readonly email: string | null;
  readonly expiresMs: number;
}

/**
 * @param email of the owner; default: the longest-standing owner.
 * @throws not_found if the organization has no such owner.
 */
export async function createOwnerLink(
  db: Database,
  clock: Clock,
  organizationId: string,
  email: string | undefined,
  by: OwnActor,
): Promise<OwnerLink> {
  return db.transaction().execute(async (trx) => {
    const owner = await ownerOf(trx, organizationId, email?.trim().toLowerCase());
    if (owner === undefined)
      throw notFound(
        `organization ${organizationId}: expected an owner ${email === undefined ? 'who is a person' : `with the e-mail ${JSON.stringify(email)}`}, found none: list organizations with "platform admin organizations list"`,
      );
    const purpose = owner.email === null ? 'sign-in' : 'reset';
    const token = await createLink(trx, clock, { purpose, personId: owner.id });
    await audit(trx, by, clock.now(), 'admin.organizations.create-owner-link', ['person', owner.id, organizationId]);
    return {
      path: `${purpose === 'reset' ? '/sign-in/reset' : '/sign-in'}?token=${token}`,
      personId: owner.id,
      email: owner.email,
      expiresMs: clock.now() + linkLifeMs[purpose],
    };
  });
}
