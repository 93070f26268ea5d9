/**
 * Deletes a machine or a part with its configurations, secrets, status, roles on the machine, and logs. Logs are deleted in steps, but
 * cannot be read from the beginning of the deletion (D29). Captured data stays until its retention ends, unless the configuration contains
 * `delete_data_on_part_deletion`.
 */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { removeGrantsOn } from '../access/grants.ts';
import { notVisible } from '../access/principal.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { MachineRow, PartRow } from './registry.ts';

export async function deleteMachine(
  deps: MachineOperationDeps,
  by: Caller,
  machine: MachineRow,
  organizationId: string,
): Promise<void> {
  const { db, registry, clock, forgetPart, accessChanged } = deps;
  const removed = await db.transaction().execute(async (trx) => {
    const rows = await trx.selectFrom('parts').select('id').where('machine_id', '=', machine.id).execute();
    const secrets = new Map<string, readonly Uint8Array[]>();
    for (const { id } of rows) secrets.set(id, await removePart(deps, trx, id, by));
    const keys = await removeGrantsOn(trx, { machineId: machine.id });
    const { numDeletedRows } = await trx.deleteFrom('machines').where('id', '=', machine.id).executeTakeFirst();
    if (numDeletedRows === 0n) throw notVisible('machine', machine.id);
    const detail = { name: machine.name, parts: rows.map(({ id }) => id), keys: keys.map(({ id }) => id) };
    await audit(trx, by, clock.now(), 'AppService.DeleteRobot', ['machine', machine.id, organizationId], detail);
    return { secrets, keys };
  });
  registry.forgetMachine(machine.id);
  for (const [id, hashes] of removed.secrets) {
    registry.secrets.deleted.put(id, hashes, 'machine');
    forgetPart(id);
  }
  for (const { id, hashes } of removed.keys) registry.secrets.deleted.put(id, hashes, 'machine');
  accessChanged();
}

/** @throws failed_precondition for the main part. */
export async function deletePart(
  deps: MachineOperationDeps,
  by: Caller,
  part: PartRow,
  organizationId: string,
): Promise<void> {
  const { db, registry, clock, forgetPart, accessChanged } = deps;
  const hashes = await db.transaction().execute(async (trx) => {
    const row = await trx.selectFrom('parts').select('main').where('id', '=', part.id).executeTakeFirst();
    if (row === undefined) throw notVisible('part', part.id);
    if (row.main === 1) {
      throw failedPrecondition(
        `part ${part.id}: expected a part other than the main part of machine ${part.machine_id}, found the main part. Make another part the main part first, or delete the machine`,
      );
    }
    const removed = await removePart(deps, trx, part.id, by);
    const detail = { name: part.name, machine: part.machine_id };
    await audit(trx, by, clock.now(), 'AppService.DeleteRobotPart', ['part', part.id, organizationId], detail);
    return removed;
  });
  registry.forgetPart(part.id);
  registry.secrets.deleted.put(part.id, hashes, 'machine');
  forgetPart(part.id);
  accessChanged();
}

/** @returns the hashes of its secrets */
async function removePart(
  { onDeleting }: Pick<MachineOperationDeps, 'onDeleting'>,
  trx: DatabaseTransaction,
  partId: string,
  by: Caller,
): Promise<readonly Uint8Array[]> {
  await onDeleting(trx, partId, by);
  await trx.deleteFrom('part_status').where('part_id', '=', partId).execute();
  const secrets = await trx.selectFrom('part_secrets').select('secret_hash').where('part_id', '=', partId).execute();
  await trx.deleteFrom('part_secrets').where('part_id', '=', partId).execute();
  await trx.deleteFrom('part_configurations').where('part_id', '=', partId).execute();
  await trx.deleteFrom('parts').where('id', '=', partId).execute();
  return secrets.map((row) => row.secret_hash);
}
