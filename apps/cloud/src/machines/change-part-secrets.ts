/** A part may have several secrets, so that one can be replaced while the other still works (D6). */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { notVisible } from '../access/principal.ts';
import { requireCapacity } from '../text-rules/require-at-most.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import { insertPartSecret } from './part-secrets.ts';

const maxSecrets = 10;

/** @throws resource_exhausted */
export async function createPartSecret(
  { db, registry, instanceKey, clock }: MachineOperationDeps,
  by: Caller,
  partId: string,
  organizationId: string,
): Promise<void> {
  const nowMs = clock.now();
  const secret = await db.transaction().execute(async (trx) => {
    const part = await trx.selectFrom('parts').select('epoch').where('id', '=', partId).executeTakeFirst();
    if (part === undefined) throw notVisible('part', partId);
    const living = await trx.selectFrom('part_secrets').select('id').where('part_id', '=', partId).execute();
    requireCapacity(`part ${partId}`, maxSecrets, living.length, ' secrets', 'delete one first');
    const epoch = part.epoch + 1;
    await trx.updateTable('parts').set({ epoch }).where('id', '=', partId).execute();
    const created = await insertPartSecret(trx, instanceKey, { partId, epoch, nowMs });
    const detail = { secret: created.id };
    await audit(trx, by, nowMs, 'AppService.CreateRobotPartSecret', ['part', partId, organizationId], detail);
    return created;
  });
  const part = registry.part(partId);
  if (part === undefined) return;
  registry.putPart({ ...part, epoch: secret.epoch });
  registry.secrets.put(secret);
}

/** Tokens issued for the secret stop working. @throws failed_precondition for the last one. */
export async function deletePartSecret(
  { db, registry, clock, accessChanged }: MachineOperationDeps,
  by: Caller,
  partId: string,
  secretId: string,
  organizationId: string,
): Promise<void> {
  const epoch = await db.transaction().execute(async (trx) => {
    const living = await trx.selectFrom('part_secrets').select(['id', 'epoch']).where('part_id', '=', partId).execute();
    const secret = living.find(({ id }) => id === secretId);
    if (secret === undefined) throw notVisible('part secret', secretId);
    if (living.length === 1) {
      throw failedPrecondition(
        `part ${partId}: expected at least one secret to remain, found that this is the last one; create another one first`,
      );
    }
    await trx.deleteFrom('part_secrets').where('id', '=', secretId).execute();
    const detail = { secret: secretId };
    await audit(trx, by, clock.now(), 'AppService.DeleteRobotPartSecret', ['part', partId, organizationId], detail);
    return secret.epoch;
  });
  registry.secrets.forget({ partId, epoch });
  accessChanged();
}
