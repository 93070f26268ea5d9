/** Members: people who hold a role anywhere in an organization. */

import { notFound } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { grantsOfIdentity, ownersLeft, peopleIn, removeGrantsIn, requireOwnerLeft } from '../access/grants.ts';
import { organizationsOf } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';
import type { IdentityOperationDeps } from './identity-deps.ts';

export interface Member {
  readonly personId: string;
  readonly email: string;
  readonly addedMs: number;
  readonly lastSignInMs: number | undefined;
  readonly lastUsedMs: number | undefined;
}

export async function membersOf(
  db: Database,
  organization: { id: string; created_ms: number },
): Promise<readonly Member[]> {
  const rows = await db
    .selectFrom('people')
    .leftJoin('organization_joins', (join) =>
      join
        .onRef('organization_joins.person_id', '=', 'people.id')
        .on('organization_joins.organization_id', '=', organization.id),
    )
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('sessions')
          .select((used) => ['sessions.person_id', used.fn.max('sessions.last_used_ms').as('used_ms')])
          .groupBy('sessions.person_id')
          .as('use'),
      (join) => join.onRef('use.person_id', '=', 'people.id'),
    )
    .select([
      'people.id',
      'people.email',
      'people.created_ms',
      'people.last_sign_in_ms',
      'organization_joins.joined_ms',
      'use.used_ms',
    ])
    .where('people.id', 'in', peopleIn(db, organization.id))
    .orderBy('people.created_ms')
    .orderBy('people.id')
    .execute();
  return rows.map((row) => ({
    personId: row.id,
    email: row.email ?? '',
    // A person without an invitation created the organization or already existed at its creation.
    addedMs: Number(row.joined_ms ?? Math.max(row.created_ms, organization.created_ms)),
    lastSignInMs: row.last_sign_in_ms ?? undefined,
    lastUsedMs: row.used_ms === null ? (row.last_sign_in_ms ?? undefined) : Number(row.used_ms),
  }));
}

export async function isMember(db: Database, organizationId: string, email: string): Promise<boolean> {
  const row = await db
    .selectFrom('people')
    .select('id')
    .where('email', '=', email)
    .where('id', 'in', peopleIn(db, organizationId))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The longest-standing person who owns the whole organization. @param email only the owner with this address, as returned by
 * `checkedEmail`
 */
export async function ownerOf(
  db: Database,
  organizationId: string,
  email: string | undefined,
): Promise<{ readonly id: string; readonly email: string | null } | undefined> {
  const owners = db
    .selectFrom('people')
    .select(['id', 'email'])
    .where('id', 'in', peopleIn(db, organizationId, 'owner'))
    .orderBy('created_ms')
    .orderBy('id');
  return (email === undefined ? owners : owners.where('email', '=', email)).executeTakeFirst();
}

/** The organizations in which a person directly holds a role. */
export async function organizationIdsOf(db: Database, personId: string): Promise<readonly string[]> {
  const grants = await grantsOfIdentity(db, { type: 'person', id: personId });
  return organizationsOf(grants).toSorted();
}

/** Removes all of a person's roles in an organization. @throws not_found; failed_precondition for the last owner (R7) */
export async function removeMember(
  deps: IdentityOperationDeps,
  by: Caller,
  organizationId: string,
  personId: string,
): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    const removed = await removeGrantsIn(trx, { type: 'person', id: personId }, organizationId);
    if (removed.length === 0)
      throw notFound(
        `member: expected the id of one of organization ${organizationId}, found ${JSON.stringify(personId.slice(0, 64))}`,
      );
    const left = await requireOwnerLeft(trx, organizationId);
    await trx
      .deleteFrom('organization_joins')
      .where('organization_id', '=', organizationId)
      .where('person_id', '=', personId)
      .execute();
    const target = ['person', personId, organizationId] as const;
    const detail = removed.includes('owner') ? ownersLeft(left) : {};
    await audit(trx, by, deps.clock.now(), 'AppService.DeleteOrganizationMember', target, detail);
  });
  deps.forget();
}
