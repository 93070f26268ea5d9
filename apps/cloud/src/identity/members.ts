/** Members: people who hold a role anywhere in an organization. */
import { PlatformError } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { ownersLeft, requireOwnerLeft } from '../access/grants.ts';
import type { Database } from '../metadata/tables.ts';
import type { IdentityDeps } from './identity-deps.ts';

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
    .where('people.id', 'in', (eb) =>
      eb
        .selectFrom('grants')
        .select('identity_id')
        .where('organization_id', '=', organization.id)
        .where('identity_type', '=', 'person'),
    )
    .orderBy('people.created_ms')
    .orderBy('people.id')
    .execute();
  return rows.map((row) => ({
    personId: row.id,
    email: row.email ?? '',
    // Who did not come by invitation made the organization, or was there when it was made.
    addedMs: Number(row.joined_ms ?? Math.max(row.created_ms, organization.created_ms)),
    lastSignInMs: row.last_sign_in_ms ?? undefined,
    lastUsedMs: row.used_ms === null ? (row.last_sign_in_ms ?? undefined) : Number(row.used_ms),
  }));
}

export async function isMember(db: Database, organizationId: string, email: string): Promise<boolean> {
  const row = await db
    .selectFrom('grants')
    .innerJoin('people', 'people.id', 'grants.identity_id')
    .select('people.id')
    .where('grants.organization_id', '=', organizationId)
    .where('grants.identity_type', '=', 'person')
    .where('people.email', '=', email)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The organizations in which a person holds a role of her own. */
export async function organizationIdsOf(db: Database, personId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('grants')
    .select('organization_id')
    .distinct()
    .where('identity_id', '=', personId)
    .where('identity_type', '=', 'person')
    .orderBy('organization_id')
    .execute();
  return rows.map((row) => row.organization_id);
}

/** Takes all of a person's roles in an organization. @throws not_found; failed_precondition for the last owner (R7) */
export async function removeMember(
  deps: IdentityDeps,
  by: Caller,
  organizationId: string,
  personId: string,
): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    const removed = await trx
      .deleteFrom('grants')
      .where('organization_id', '=', organizationId)
      .where('identity_id', '=', personId)
      .where('identity_type', '=', 'person')
      .returning('role')
      .execute();
    if (removed.length === 0)
      throw new PlatformError(
        'not_found',
        `member: expected the id of one of organization ${organizationId}, found ${JSON.stringify(personId.slice(0, 64))}`,
      );
    const left = await requireOwnerLeft(trx, organizationId);
    await trx
      .deleteFrom('organization_joins')
      .where('organization_id', '=', organizationId)
      .where('person_id', '=', personId)
      .execute();
    await audit(
      trx,
      by,
      {
        action: 'AppService.DeleteOrganizationMember',
        organizationId,
        targetKind: 'person',
        targetId: personId,
        detail: removed.some(({ role }) => role === 'owner') ? ownersLeft(left) : {},
      },
      deps.clock.now(),
    );
  });
  deps.forget();
}
