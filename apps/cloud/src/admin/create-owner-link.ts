/** A new one-time link for an owner who lost every way in (D30): to set a new password, or to sign in while she has no address. */
import { type Clock, PlatformError } from '@platform/base';
import { audit, type OwnActor } from '../access/audit.ts';
import { createLink, linkLifeMs } from '../identity/sign-in/links.ts';
import type { Database } from '../metadata/tables.ts';

export interface OwnerLink {
  /** Path and query on the cloud's address. */
  readonly path: string;
  readonly personId: string;
  /** Null: she has none yet. */
  readonly email: string | null;
  readonly expiresMs: number;
}

/**
 * @param email which owner; default the one who has been there longest.
 * @throws not_found when the organization has no such owner.
 */
export async function createOwnerLink(
  db: Database,
  clock: Clock,
  organizationId: string,
  email: string | undefined,
  by: OwnActor,
): Promise<OwnerLink> {
  return db.transaction().execute(async (trx) => {
    let owners = trx
      .selectFrom('grants')
      .innerJoin('people', 'people.id', 'grants.identity_id')
      .select(['people.id', 'people.email'])
      .where('grants.organization_id', '=', organizationId)
      .where('grants.identity_type', '=', 'person')
      .where('grants.role', '=', 'owner')
      .where('grants.location_id', 'is', null)
      .where('grants.robot_id', 'is', null)
      .orderBy('people.created_ms')
      .orderBy('people.id');
    if (email !== undefined) owners = owners.where('people.email', '=', email.trim().toLowerCase());
    const owner = await owners.executeTakeFirst();
    if (owner === undefined)
      throw new PlatformError(
        'not_found',
        `organization ${organizationId}: expected an owner ${email === undefined ? 'who is a person' : `with the e-mail ${JSON.stringify(email)}`}, found none: list organizations with "platform admin organizations list"`,
      );
    const purpose = owner.email === null ? 'sign-in' : 'reset';
    const token = await createLink(trx, clock, { purpose, personId: owner.id });
    await audit(
      trx,
      by,
      {
        action: 'admin.organizations.create-owner-link',
        organizationId,
        targetKind: 'person',
        targetId: owner.id,
      },
      clock.now(),
    );
    return {
      path: `${purpose === 'reset' ? '/sign-in/reset' : '/sign-in'}?token=${token}`,
      personId: owner.id,
      email: owner.email,
      expiresMs: clock.now() + linkLifeMs[purpose],
    };
  });
}
