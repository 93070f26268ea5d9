/**
 * Refuses answers that rows of machines and parts could change which were altered, missing or added when the cloud started (D33). From then
 * on these rows are in memory, where nothing else changes them: what is found later does not affect answers before the next start.
 */
import type { CheckedRows } from '../metadata/row-checks/read-checked.ts';
import { alteredRows } from '../metadata/row-checks/require-right.ts';
import type { Registry } from './registry.ts';

export type RegistryDamage = Readonly<Record<'machines' | 'parts', Omit<CheckedRows, 'rows'>>>;

/** Its functions throw data_loss for rows that are wrong, for lists that may lack some, and for ids that could be the missing ones. */
export function intactRegistry(registry: Registry, { machines, parts }: RegistryDamage): Registry {
  if ([machines, parts].every(({ altered, incomplete }) => altered.size + incomplete.size === 0)) return registry;
  const refuse = (text: string | undefined): void => {
    if (text !== undefined) throw alteredRows({ text });
  };
  const firstOf = (texts: ReadonlyMap<string, string>): string | undefined => texts.values().next().value;
  const machine: Registry['machine'] = (id) => {
    const found = registry.machine(id);
    refuse(found === undefined ? firstOf(machines.incomplete) : machines.altered.get(id));
    return found;
  };
  const part: Registry['part'] = (id) => {
    const found = registry.part(id);
    refuse(found === undefined ? firstOf(parts.incomplete) : parts.altered.get(id));
    return found;
  };
  const requirePart = (id: string): void => {
    machine(part(id)?.machine_id ?? '');
  };
  return {
    ...registry,
    machine,
    part,
    machinesOf(locationId) {
      refuse(machines.incomplete.get(locationId));
      return registry.machinesOf(locationId);
    },
    partsOf(machineId) {
      refuse(parts.incomplete.get(machineId));
      return registry.partsOf(machineId);
    },
    placeOf(partId) {
      requirePart(partId);
      return registry.placeOf(partId);
    },
    lineageOfPart(partId) {
      requirePart(partId);
      return registry.lineageOfPart(partId);
    },
  };
}
