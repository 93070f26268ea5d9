/** Creates a part, changes one, or makes one the main part of its machine. */
import { alreadyExists } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { notVisible } from '../access/principal.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import { requireCapacity } from '../text-rules/require-at-most.ts';
import { insertPart } from './insert-machine.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { PartRow, Registry } from './registry.ts';

/** Maximum number of parts of a machine: each answer about a machine contains all of them. */
const maxParts = 100;

type Deps = Pick<MachineOperationDeps, 'db' | 'registry' | 'clock' | 'instanceKey'>;

/** @throws already_exists, resource_exhausted */
export async function createPart(
  { db, registry, clock, instanceKey }: Deps,
  by: Caller,
  { organizationId, machineId, name }: { organizationId: string; machineId: string; name: string },
): Promise<PartRow> {
  const nowMs = clock.now();
  const { part, secret } = await db.transaction().execute(async (trx) => {
    const machine = await trx.selectFrom('machines').select('id').where('id', '=', machineId).executeTakeFirst();
    if (machine === undefined) throw notVisible('machine', machineId);
    const parts = await trx.selectFrom('parts').select(['id', 'name']).where('machine_id', '=', machineId).execute();
    requireFreeName(parts, name, machineId);
    requireCapacity(`machine ${machineId}`, maxParts, parts.length, ' parts', 'delete one first');
    const created = await insertPart(trx, instanceKey, { machineId, name, main: parts.length === 0, nowMs });
    const detail = { name, machine: machineId };
    await audit(trx, by, nowMs, 'AppService.NewRobotPart', ['part', created.part.id, organizationId], detail);
    return created;
  });
  registry.putPart(part);
  registry.secrets.put(secret);
  return part;
}

export async function makeMain(
  { db, registry, clock }: Deps,
  by: Caller,
  part: PartRow,
  organizationId: string,
): Promise<void> {
  if (part.main === 1) return;
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('parts').set({ main: 0 }).where('machine_id', '=', part.machine_id).execute();
    const { numUpdatedRows } = await trx
      .updateTable('parts')
      .set({ main: 1 })
      .where('id', '=', part.id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notVisible('part', part.id);
    const detail = { machine: part.machine_id };
    await audit(trx, by, clock.now(), 'AppService.MarkPartAsMain', ['part', part.id, organizationId], detail);
  });
  for (const row of registry.partsOf(part.machine_id)) registry.putPart({ ...row, main: row.id === part.id ? 1 : 0 });
}

export interface PartChange {
  readonly part: PartRow;
  readonly organizationId: string;
  readonly action: string;
  readonly columns: Partial<Pick<PartRow, 'name' | 'restart_requested_ms'>>;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** @throws already_exists if another part of the machine has the new name. */
export async function changePart(
  { db, registry, clock }: Omit<Deps, 'instanceKey'>,
  by: Caller,
  change: PartChange,
): Promise<void> {
  await db.transaction().execute((trx) => writePartChange(trx, by, change, clock.now()));
  partChanged(registry, change);
}

/** Runs in the caller's transaction; call `partChanged` after the commit. @throws already_exists */
export async function writePartChange(
  trx: DatabaseTransaction,
  by: Caller,
  { part, organizationId, action, columns, detail }: PartChange,
  nowMs: number,
): Promise<void> {
  if (columns.name !== undefined) {
    const parts = await trx
      .selectFrom('parts')
      .select(['id', 'name'])
      .where('machine_id', '=', part.machine_id)
      .execute();
    requireFreeName(
      parts.filter(({ id }) => id !== part.id),
      columns.name,
      part.machine_id,
    );
  }
  const { numUpdatedRows } = await trx
    .updateTable('parts')
    .set({ ...columns })
    .where('id', '=', part.id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw notVisible('part', part.id);
  await audit(trx, by, nowMs, action, ['part', part.id, organizationId], detail);
}

export function partChanged(registry: Registry, { part, columns }: PartChange): void {
  const row = registry.part(part.id);
  if (row !== undefined) registry.putPart({ ...row, ...columns });
}

function requireFreeName(parts: readonly { id: string; name: string }[], name: string, machineId: string): void {
  const other = parts.find((part) => part.name === name);
  if (other === undefined) return;
  throw alreadyExists(
    `machine ${machineId}: expected a name that none of its other parts has, found ${JSON.stringify(name)}, the name of part ${other.id}`,
  );
}
