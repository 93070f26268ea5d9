/** First start: an organization, a location, an owner with an API key, and this computer as first machine (D30). There is no default password. */
import { hostname } from 'node:os';
import { newId, newSecret, newShortId } from '@platform/base';
import { createKey } from '../access/keys.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';

/** Creates the first account unless there is one. */
export async function createFirstAccount(db: Database, instanceKey: InstanceKey, nowMs: number): Promise<void> {
  const existing = await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
  if (existing !== undefined) return;
  const organizationId = newId();
  const locationId = newShortId();
  const webhookSecret = `whsec_${Buffer.from(newSecret(), 'base64url').toString('base64')}`;
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('organizations')
      .values({
        id: organizationId,
        name: 'My organization',
        created_ms: nowMs,
        webhook_secret: instanceKey.encrypt(webhookSecret),
      })
      .execute();
    await trx
      .insertInto('locations')
      .values({
        id: locationId,
        organization_id: organizationId,
        parent_id: null,
        name: hostname() || 'here',
        created_ms: nowMs,
      })
      .execute();
    await trx
      .insertInto('location_secrets')
      .values({ id: newId(), location_id: locationId, secret: instanceKey.encrypt(newSecret()), created_ms: nowMs })
      .execute();
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
