/** First start: creates an organization, a location and an owner with an API key (D30). There is no default password. */
import { hostname } from 'node:os';
import { newId } from '@platform/base';
import { addGrant } from '../access/grants.ts';
import { createKey } from '../access/keys.ts';
import type { Grant } from '../access/principal.ts';
import { insertLocation, insertOrganization } from '../accounts/insert-account-rows.ts';
import { storedOrganizations } from '../accounts/organizations/stored-organizations.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';

/**
 * Creates the first account of an installation that has never had one. If all organizations were deleted, their people still exist and can
 * create new ones.
 */
export async function createFirstAccount(db: Database, instanceKey: InstanceKey, nowMs: number): Promise<void> {
  if ((await storedOrganizations(db)).length > 0) return;
  if ((await db.selectFrom('people').select('id').limit(1).executeTakeFirst()) !== undefined) return;
  await db.transaction().execute(async (trx) => {
    const { id: organizationId } = await insertOrganization(trx, instanceKey, 'My organization', nowMs);
    await insertLocation(trx, instanceKey, { organizationId, parentId: null, name: hostname() || 'here' }, nowMs);
    const personId = newId();
    await trx.insertInto('people').values({ id: personId, email: null, name: 'owner', created_ms: nowMs }).execute();
    const owner: Grant = { role: 'owner', organizationId, locationId: null, robotId: null };
    await addGrant(trx, { type: 'person', id: personId }, owner);
    await createKey(trx, instanceKey, 'owner', [owner], nowMs);
  });
}
