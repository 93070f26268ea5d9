/** Resources of other machines in the graph, and the short names that mean them. Pure. */
import type { ResourceConfig } from '@platform/machine-config/schema';

/** Its name is `<remote>:<short name>`. */
export interface RemoteResource extends ResourceConfig {
  /** The remote in the configuration through which it is reached. */
  readonly remote: string;
  /** Its name without the remote. */
  readonly shortName: string;
  /** The machine to which it belongs: that of the remote, or one behind it. Unknown ids are empty. */
  readonly owner: MachineIds;
}

export interface MachineIds {
  readonly primaryOrgId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly machinePartId: string;
}

/** Undefined for a resource of this machine. */
export function asRemote(config: ResourceConfig): RemoteResource | undefined {
  return 'remote' in config ? (config as RemoteResource) : undefined;
}

const none: ReadonlyMap<string, readonly RemoteResource[]> = new Map();

/**
 * What short names mean (`arm`, `core:component:arm/arm` for `core:component:arm/left:arm`): only those that no resource of this machine
 * has, and that only one remote has.
 */
export function remoteShortNames(configs: readonly ResourceConfig[]): ReadonlyMap<string, readonly RemoteResource[]> {
  const remote = configs.flatMap((config) => asRemote(config) ?? []);
  if (remote.length === 0) return none;
  const named = Map.groupBy(
    remote.flatMap((one) => [one.shortName, `${one.api}/${one.shortName}`].map((name) => ({ name, one }))),
    ({ name }) => name,
  );
  const taken = new Set(configs.flatMap(({ api, name }) => [name, `${api}/${name}`]));
  return new Map(
    [...named].flatMap(([name, all]) => {
      const isOfOne = all.every(({ one }) => one.remote === all[0]?.one.remote);
      return isOfOne && !taken.has(name) ? [[name, all.map(({ one }) => one)]] : [];
    }),
  );
}
