/** First start: an organization, a location, an owner with an API key, and this computer as first machine (D30). There is no default password. */
import { hostname } from 'node:os';
import { newId } from '@platform/base';
import { createKey } from '../access/keys.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { insertLocation, insertOrganization } from './new-account.ts';

/**
 * Creates the first account of an installation that never had one. Where every organization was deleted the people are
 * still there, and can make new ones.
 */
export async function createFirstAccount(db: Database, instanceKey: InstanceKey, nowMs: number): Promise<void> {
  for (const table of ['organizations', 'people'] as const) {
    if ((await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) !== undefined) return;
  }
  await db.transaction().execute(async (trx) => {
    const { id: organizationId } = await insertOrganization(trx, instanceKey, 'My organization', nowMs);
    await insertLocation(trx, instanceKey, { organizationId, parentId: null, name: hostname() || 'here' }, nowMs);
    const personId = newId();
    await trx.insertInto('people').values({ id: personId, email: null, name: 'owner', created_ms: nowMs }).execute();
    await trx
      .insertInto('grants')
      .values({
        identity_id: personId,
        identity_type: 'person',
        role: 'owner',
        organization_id: organizationId,
        location_id: null,
        robot_id: null,
      })
      .execute();
    await createKey(
      trx,
      instanceKey,
      'owner',
      [{ role: 'owner', organizationId, locationId: null, robotId: null }],
      nowMs,
    );
  });
}
