/** Renames a machine, moves it to another location of its organization, or both. */
import { audit, type Caller } from '../access/audit.ts';
import { notVisible } from '../access/principal.ts';
import { isLocationStored } from '../accounts/locations/stored-locations.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { MachineRow } from './registry.ts';
import { requireFreeName } from './require-free-name.ts';

export async function updateMachine(
  { db, registry, access, clock }: MachineOperationDeps,
  by: Caller,
  machine: MachineRow,
  organizationId: string,
  { name, locationId }: { name: string; locationId: string },
): Promise<MachineRow> {
  const detail = {
    ...(name === machine.name ? {} : { name, name_before: machine.name }),
    ...(locationId === machine.location_id ? {} : { location: locationId, location_before: machine.location_id }),
  };
  if (Object.keys(detail).length === 0) return machine;
  const updated: MachineRow = { ...machine, name, location_id: locationId };
  await db.transaction().execute(async (trx) => {
    if (!(await isLocationStored(trx, locationId))) throw notVisible('location', locationId);
    await requireFreeName(trx, (id) => access.allows(by.principal, 'machine.read', id), {
      ...{ locationId, name, id: machine.id },
    });
    const { numUpdatedRows } = await trx
      .updateTable('machines')
      .set({ name, location_id: locationId })
      .where('id', '=', machine.id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notVisible('machine', machine.id);
    const action = 'AppService.UpdateRobot';
    await audit(trx, by, clock.now(), action, ['machine', machine.id, organizationId], detail);
  });
  registry.putMachine(updated);
  return updated;
}
