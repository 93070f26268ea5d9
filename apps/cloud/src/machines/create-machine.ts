/** Creates a machine with its main part. */
import { audit, type Caller } from '../access/audit.ts';
import { notVisible } from '../access/principal.ts';
import { insertMachine } from './insert-machine.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { MachineRow } from './registry.ts';

export async function createMachine(
  { db, registry, instanceKey, clock }: MachineOperationDeps,
  by: Caller,
  { organizationId, locationId, name }: { organizationId: string; locationId: string; name: string },
): Promise<MachineRow> {
  const nowMs = clock.now();
  const { machine, part, secret } = await db.transaction().execute(async (trx) => {
    const location = await trx.selectFrom('locations').select('id').where('id', '=', locationId).executeTakeFirst();
    if (location === undefined) throw notVisible('location', locationId);
    const created = await insertMachine(trx, instanceKey, { locationId, name, nowMs });
    const change = {
      action: 'AppService.NewRobot',
      organizationId,
      targetKind: 'machine',
      targetId: created.machine.id,
      detail: { name, location: locationId, main_part: created.part.id },
    };
    await audit(trx, by, change, nowMs);
    return created;
  });
  registry.putMachine(machine);
  registry.putPart(part);
  registry.secrets.put(secret);
  return machine;
}
