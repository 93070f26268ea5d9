/** Machines and parts: register, find, and say where a part lies in the account tree. */
import { newId, newSecret } from '@platform/base';
import { type Lineage, notVisible } from '../access/principal.ts';
import { checkedName } from '../accounts/checked-name.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import type { MachinesTables } from './store.ts';

export type MachineRow = MachinesTables['machines'];
export type PartRow = MachinesTables['parts'];

/** The account path of a part with the names that notifications show; fields of platform.ingest.v1.Place. */
export interface PartPlace {
  readonly organizationId: string;
  readonly locationId: string;
  readonly robotId: string;
  readonly partId: string;
  readonly organizationName: string;
  readonly locationName: string;
  readonly robotName: string;
  readonly partName: string;
}

export interface Registry {
  machine(id: string): MachineRow | undefined;
  machinesOf(locationId: string): readonly MachineRow[];
  part(id: string): PartRow | undefined;
  partsOf(machineId: string): readonly PartRow[];
  /** Where a part lies. @throws not_found */
  placeOf(partId: string): PartPlace;
  lineageOfMachine(machine: MachineRow): Lineage;
  lineageOfPart(partId: string): Lineage;
  /** Creates a machine with one main part; returns their ids and the part's secret. */
  register(
    locationId: string,
    name: string,
    nowMs: number,
  ): Promise<{ machineId: string; partId: string; partSecret: string }>;
  /** Names are trimmed. @throws invalid_argument */
  renamePart(partId: string, name: string): Promise<void>;
  /** The epoch of the part if `secret` is one of its living secrets. */
  checkSecret(partId: string, secret: string): Promise<number | undefined>;
  /** The oldest living secret of a part, in clear: for the part itself and for owners (D6). */
  secretOf(partId: string): Promise<string>;
  reload(): Promise<void>;
}

export async function openRegistry(db: Database, tree: AccountTree, instanceKey: InstanceKey): Promise<Registry> {
  let machines = new Map<string, MachineRow>();
  let parts = new Map<string, PartRow>();
  const reload = async (): Promise<void> => {
    machines = new Map((await db.selectFrom('machines').selectAll().execute()).map((row) => [row.id, row]));
    parts = new Map((await db.selectFrom('parts').selectAll().execute()).map((row) => [row.id, row]));
  };
  await reload();

  const lineageOfMachine = (machine: MachineRow): Lineage => ({
    organizationId: tree.location(machine.location_id)?.organization_id ?? '',
    locationIds: tree.ancestors(machine.location_id),
    robotId: machine.id,
  });
  const machineOfPart = (partId: string): { part: PartRow; machine: MachineRow } => {
    const part = parts.get(partId);
    const machine = machines.get(part?.machine_id ?? '');
    if (part === undefined || machine === undefined) throw notVisible('part', partId);
    return { part, machine };
  };

  return {
    machine: (id) => machines.get(id),
    machinesOf: (locationId) => [...machines.values()].filter((row) => row.location_id === locationId),
    part: (id) => parts.get(id),
    partsOf: (machineId) => [...parts.values()].filter((row) => row.machine_id === machineId),
    lineageOfMachine,
    lineageOfPart: (partId) => lineageOfMachine(machineOfPart(partId).machine),
    placeOf(partId) {
      const { part, machine } = machineOfPart(partId);
      const location = tree.location(machine.location_id);
      const organization = tree.organization(location?.organization_id ?? '');
      if (location === undefined || organization === undefined) throw notVisible('part', partId);
      return {
        organizationId: organization.id,
        locationId: location.id,
        robotId: machine.id,
        partId,
        organizationName: organization.name,
        locationName: location.name,
        robotName: machine.name,
        partName: part.name,
      };
    },
    async register(locationId, name, nowMs) {
      const machineId = newId();
      const partId = newId();
      const partSecret = newSecret();
      await db.transaction().execute(async (trx) => {
        await trx
          .insertInto('machines')
          .values({ id: machineId, location_id: locationId, name, created_ms: nowMs })
          .execute();
        await trx
          .insertInto('parts')
          .values({
            id: partId,
            machine_id: machineId,
            name: `${name}-main`,
            main: 1,
            created_ms: nowMs,
            epoch: 1,
            restart_requested_ms: null,
            last_seen_ms: null,
          })
          .execute();
        await trx
          .insertInto('part_secrets')
          .values({
            id: newId(),
            part_id: partId,
            secret_hash: instanceKey.hash(partSecret),
            secret: instanceKey.encrypt(partSecret),
            created_ms: nowMs,
          })
          .execute();
      });
      await reload();
      return { machineId, partId, partSecret };
    },
    async renamePart(partId, name) {
      await db
        .updateTable('parts')
        .set({ name: checkedName(name) })
        .where('id', '=', partId)
        .execute();
      await reload();
    },
    async checkSecret(partId, secret) {
      const row = await db
        .selectFrom('part_secrets')
        .innerJoin('parts', 'parts.id', 'part_secrets.part_id')
        .select('parts.epoch')
        .where('part_secrets.part_id', '=', partId)
        .where('part_secrets.secret_hash', '=', instanceKey.hash(secret))
        .executeTakeFirst();
      return row?.epoch;
    },
    async secretOf(partId) {
      const row = await db
        .selectFrom('part_secrets')
        .select('secret')
        .where('part_id', '=', partId)
        .orderBy('created_ms')
        .executeTakeFirst();
      if (row === undefined) throw notVisible('part', partId);
      return instanceKey.decrypt(row.secret);
    },
    reload,
  };
}
