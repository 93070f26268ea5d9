/**
 * Machines and parts in memory: by id and by what contains them, with their place in the account tree.
 *
 * Code that changes a stored row updates it here after the commit; rows are not read again.
 */
import { getOrInsert } from '@platform/base';
import { type Lineage, notVisible } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import { readChecked } from '../metadata/row-checks/read-checked.ts';
import type { Database } from '../metadata/tables.ts';
import { insertMachine } from './insert-machine.ts';
import type { RegistryDamage } from './intact-registry.ts';
import { openPartSecrets, type PartSecretStore } from './part-secrets.ts';
import { checkedMachines, checkedParts, type MachinesTables } from './store.ts';

/** Without metadata, which may be large and is rarely read. */
export type MachineRow = Readonly<Omit<MachinesTables['machines'], 'metadata'>>;
export type PartRow = Readonly<Omit<MachinesTables['parts'], 'metadata'>>;

/** The account path of a part, with the names that notifications show; fields of platform.ingest.v1.Place. */
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
  /** Rows that were wrong when they were read. */
  readonly damage: RegistryDamage;
  machine(id: string): MachineRow | undefined;
  machinesNamed(name: string): readonly MachineRow[];
  partsNamed(name: string): readonly PartRow[];
  /** Ordered by name, then id. */
  machinesOf(locationId: string): readonly MachineRow[];
  part(id: string): PartRow | undefined;
  /** The main part first, then by age. */
  partsOf(machineId: string): readonly PartRow[];
  /** The place of a part. @throws not_found */
  placeOf(partId: string): PartPlace;
  /** Undefined if the part does not exist. */
  findPlace(partId: string): PartPlace | undefined;
  lineageOfMachine(machine: MachineRow): Lineage;
  /** @throws not_found */
  lineageOfPart(partId: string): Lineage;
  readonly secrets: PartSecretStore;
  /** Creates a machine with one main part; returns their ids and the part's secret. */
  register(
    locationId: string,
    name: string,
    nowMs: number,
  ): Promise<{ machineId: string; partId: string; partSecret: string }>;
  /** The oldest valid secret of a part, in plaintext: for the part itself and for owners (D6). */
  secretOf(partId: string): Promise<string>;
  /** Must be called after a commit, with the new or changed machine. */
  putMachine(machine: MachineRow): void;
  putPart(part: PartRow): void;
  /** Must be called after a commit that deleted the machine with its parts. */
  forgetMachine(id: string): void;
  forgetPart(id: string): void;
}

export async function openRegistry(db: Database, tree: AccountTree, instanceKey: InstanceKey): Promise<Registry> {
  const machines = new Map<string, MachineRow>();
  const parts = new Map<string, PartRow>();
  const machinesIn = new Map<string, Set<string>>();
  const partsIn = new Map<string, Set<string>>();
  const secrets = await openPartSecrets(db, instanceKey);

  const putMachine = (machine: MachineRow): void => {
    const before = machines.get(machine.id);
    if (before !== undefined && before.location_id !== machine.location_id)
      leave(machinesIn, before.location_id, machine.id);
    machines.set(machine.id, machine);
    enter(machinesIn, machine.location_id, machine.id);
  };
  const putPart = (part: PartRow): void => {
    parts.set(part.id, part);
    enter(partsIn, part.machine_id, part.id);
  };
  const forgetPart = (id: string): void => {
    const part = parts.get(id);
    if (part !== undefined) leave(partsIn, part.machine_id, id);
    parts.delete(id);
    secrets.forgetPart(id);
  };
  const storedMachines = await readChecked(db, checkedMachines);
  for (const row of storedMachines.rows) putMachine(row as unknown as MachineRow);
  const storedParts = await readChecked(db, checkedParts, ['restart_requested_ms']);
  for (const row of storedParts.rows) putPart(row as unknown as PartRow);

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

  const placeOf = (partId: string): PartPlace => {
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
  };

  return {
    damage: { machines: storedMachines, parts: storedParts },
    machine: (id) => machines.get(id),
    machinesOf: (locationId) =>
      rowsOf(machines, machinesIn.get(locationId)).sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id)),
    machinesNamed: (wanted) => [...machines.values()].filter(({ name }) => name === wanted),
    part: (id) => parts.get(id),
    partsNamed: (wanted) => [...parts.values()].filter(({ name }) => name === wanted),
    partsOf: (machineId) =>
      rowsOf(parts, partsIn.get(machineId)).sort(
        (a, b) => b.main - a.main || a.created_ms - b.created_ms || compare(a.id, b.id),
      ),
    lineageOfMachine,
    lineageOfPart: (partId) => lineageOfMachine(machineOfPart(partId).machine),
    placeOf,
    findPlace: (partId) => (parts.has(partId) ? placeOf(partId) : undefined),
    secrets,
    async register(locationId, name, nowMs) {
      const { machine, part, secret } = await db
        .transaction()
        .execute((trx) => insertMachine(trx, instanceKey, { locationId, name, nowMs }));
      putMachine(machine);
      putPart(part);
      secrets.put(secret);
      return { machineId: machine.id, partId: part.id, partSecret: secret.text };
    },
    async secretOf(partId) {
      const [oldest] = await secrets.list([partId]);
      if (oldest === undefined) throw notVisible('part', partId);
      return oldest.text;
    },
    putMachine,
    putPart,
    forgetPart,
    forgetMachine(id) {
      for (const partId of [...(partsIn.get(id) ?? [])]) forgetPart(partId);
      const machine = machines.get(id);
      if (machine !== undefined) leave(machinesIn, machine.location_id, id);
      machines.delete(id);
    },
  };
}

function enter(index: Map<string, Set<string>>, key: string, id: string): void {
  getOrInsert(index, key, () => new Set()).add(id);
}

function leave(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}

function rowsOf<Row>(rows: ReadonlyMap<string, Row>, ids: ReadonlySet<string> | undefined): Row[] {
  return [...(ids ?? [])].flatMap((id) => rows.get(id) ?? []);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
