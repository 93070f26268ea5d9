/** Inserts a new machine, or a new part of one, with its first secret. */
import { newId } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { insertPartSecret, type PartSecret } from './part-secrets.ts';
import type { MachineRow, PartRow } from './registry.ts';

export interface NewPart {
  readonly part: PartRow;
  readonly secret: PartSecret;
}

/** Inserts a machine with one main part. `name` is already validated. `partId`: default a new one. */
export async function insertMachine(
  trx: Database,
  instanceKey: InstanceKey,
  { locationId, name, partId, nowMs }: { locationId: string; name: string; partId?: string; nowMs: number },
): Promise<NewPart & { machine: MachineRow }> {
  const machine: MachineRow = { id: newId(), location_id: locationId, name, created_ms: nowMs };
  await trx.insertInto('machines').values(machine).execute();
  const main = await insertPart(trx, instanceKey, {
    machineId: machine.id,
    name: `${name}-main`,
    main: true,
    nowMs,
    ...(partId !== undefined && { id: partId }),
  });
  return { machine, ...main };
}

export async function insertPart(
  trx: Database,
  instanceKey: InstanceKey,
  {
    id = newId(),
    machineId,
    name,
    main,
    nowMs,
  }: { id?: string; machineId: string; name: string; main: boolean; nowMs: number },
): Promise<NewPart> {
  const part: PartRow = {
    id,
    machine_id: machineId,
    name,
    main: main ? 1 : 0,
    created_ms: nowMs,
    epoch: 1,
    restart_requested_ms: null,
  };
  await trx.insertInto('parts').values(part).execute();
  return { part, secret: await insertPartSecret(trx, instanceKey, { partId: part.id, epoch: 1, nowMs }) };
}
