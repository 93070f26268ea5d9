import type { Scope } from '@platform/query';

/** The machines of a location, and the parts of a machine. */
export interface PartsPort {
  machinesOf(locationId: string): readonly { readonly id: string }[];
  partsOf(machineId: string): readonly { readonly id: string }[];
}

/** The parts that a scope covers, each once; undefined: every part of the organization. */
export function partsIn({ locationIds, robotIds }: Scope, registry: PartsPort): readonly string[] | undefined {
  if (locationIds === null && robotIds === null) return undefined;
  const machines = [
    ...(robotIds ?? []),
    ...(locationIds ?? []).flatMap((id) => registry.machinesOf(id).map((machine) => machine.id)),
  ];
  return [...new Set(machines.flatMap((id) => registry.partsOf(id).map((part) => part.id)))];
}
