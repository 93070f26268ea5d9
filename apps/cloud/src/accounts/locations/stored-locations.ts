/** What other features ask of the locations that are stored: in their transactions, or inside their own queries. */
import type { AliasableExpression } from 'kysely';
import type { Database } from '../../metadata/tables.ts';

export async function isLocationStored(db: Database, locationId: string): Promise<boolean> {
  const row = await db.selectFrom('locations').select('id').where('id', '=', locationId).executeTakeFirst();
  return row !== undefined;
}

/** Whose each location is, as a table to join. */
export function organizationByLocation(
  db: Database,
): AliasableExpression<{ location_id: string; organization_id: string }> {
  return db.selectFrom('locations').select(['id as location_id', 'organization_id']);
}
