/** Stored locations for other features: for their transactions, or as part of their own queries. */
import type { AliasableExpression } from 'kysely';
import type { Database } from '../../metadata/tables.ts';

export async function isLocationStored(db: Database, locationId: string): Promise<boolean> {
  const row = await db.selectFrom('locations').select('id').where('id', '=', locationId).executeTakeFirst();
  return row !== undefined;
}

/** A table to join: the organization of each location. */
export function organizationByLocation(
  db: Database,
): AliasableExpression<{ location_id: string; organization_id: string }> {
  return db.selectFrom('locations').select(['id as location_id', 'organization_id']);
}
