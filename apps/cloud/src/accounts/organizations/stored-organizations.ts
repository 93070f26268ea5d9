/** Stored organizations for other features, for use where the tree in memory is unavailable or may be outdated. */
import type { Database } from '../../metadata/tables.ts';
import type { OrganizationRow } from '../tree.ts';

/** Oldest first. */
export async function storedOrganizations(
  db: Database,
): Promise<readonly Pick<OrganizationRow, 'id' | 'name' | 'created_ms' | 'default_fragments'>[]> {
  return db
    .selectFrom('organizations')
    .select(['id', 'name', 'created_ms', 'default_fragments'])
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
}

export async function isOrganizationStored(db: Database, organizationId: string): Promise<boolean> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', organizationId).executeTakeFirst();
  return row !== undefined;
}
