/** Secrets of a location. It can have several, so that one can be replaced without an interruption, and always has at least one. */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { requireCapacity } from '../../text-rules/require-at-most.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { insertLocationSecret } from '../insert-account-rows.ts';

const maxSecrets = 10;

export interface LocationSecret {
  readonly id: string;
  readonly locationId: string;
  /** In plaintext. */
  readonly secret: string;
  readonly createdMs: number;
}

/** Oldest first. @param locationIds few enough for one statement */
export async function readLocationSecrets(
  { db, instanceKey }: Pick<AccountsDeps, 'db' | 'instanceKey'>,
  locationIds: readonly string[],
): Promise<readonly LocationSecret[]> {
  const rows = await db
    .selectFrom('location_secrets')
    .select(['id', 'location_id as locationId', 'secret', 'created_ms as createdMs'])
    .where('location_id', 'in', locationIds)
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, secret: instanceKey.decrypt(row.secret) }));
}

/** The caller must own the location. @throws resource_exhausted */
export async function createLocationSecret(deps: AccountsDeps, by: Caller, locationId: string): Promise<void> {
  const { db, instanceKey, clock } = deps;
  await db.transaction().execute(async (trx) => {
    const ids = await trx.selectFrom('location_secrets').select('id').where('location_id', '=', locationId).execute();
    if (ids.length === 0) throw notVisible('location', locationId);
    requireCapacity(`location ${locationId}`, maxSecrets, ids.length, ' secrets', 'delete one first');
    const secretId = await insertLocationSecret(trx, instanceKey, locationId, clock.now());
    await auditSecret(deps, trx, by, 'AppService.CreateLocationSecret', locationId, secretId);
  });
}

/** The caller must own the location. @throws not_found; failed_precondition for the last secret */
export async function deleteLocationSecret(
  deps: AccountsDeps,
  by: Caller,
  locationId: string,
  secretId: string,
): Promise<void> {
  const { db } = deps;
  await db.transaction().execute(async (trx) => {
    const ids = await trx.selectFrom('location_secrets').select('id').where('location_id', '=', locationId).execute();
    if (!ids.some(({ id }) => id === secretId)) throw notVisible('location secret', secretId);
    if (ids.length === 1)
      throw failedPrecondition(
        `location ${locationId}: expected at least one secret to remain, found that this is the last one; create another one first`,
      );
    await trx.deleteFrom('location_secrets').where('id', '=', secretId).execute();
    await auditSecret(deps, trx, by, 'AppService.DeleteLocationSecret', locationId, secretId);
  });
}

async function auditSecret(
  { tree, clock }: AccountsDeps,
  trx: Database,
  by: Caller,
  action: string,
  locationId: string,
  secretId: string,
): Promise<void> {
  const organizationId = tree.organizationOfLocation(locationId) ?? null;
  const detail = { secret: secretId };
  await audit(trx, by, clock.now(), action, ['location', locationId, organizationId], detail);
}
