/** Other resources of the machine, which a module calls through its machine-server. */
import { canonicalApi, failedPrecondition } from '@platform/base';
import { createProxy, parseResourceName, type Resource, type ResourceDescriptor } from '@platform/resources';
import type { Link } from '@platform/rpc/client';

/** The running resources that a resource depends on. */
export interface Dependencies {
  /** Full names, such as `core:component:sensor/door`. */
  readonly names: readonly string[];
  /**
   * Returns an object with the methods of the type; each call goes to the resource of the machine.
   *
   * @param name short (`door`) or full (`core:component:sensor/door`). @throws failed_precondition if it is not among the dependencies
   */
  get<T extends Resource>(type: ResourceDescriptor<T>, name: string): Omit<T, 'close'>;
  /** The same for an optional dependency; undefined if it does not exist. */
  find<T extends Resource>(type: ResourceDescriptor<T>, name: string): Omit<T, 'close'> | undefined;
}

/** @param given full names, as the machine-server sends them. @param parent the connection to the machine-server. */
export function createDependencies(given: readonly string[], parent: Pick<Link, 'client'>): Dependencies {
  const names = given.map(canonicalApi);
  const find = <T extends Resource>(type: ResourceDescriptor<T>, name: string): Omit<T, 'close'> | undefined => {
    const full = name.includes('/') ? canonicalApi(name) : `${type.api}/${name}`;
    const found = parseResourceName(full);
    return found?.api === type.api && names.includes(full) ? createProxy(type, parent, found.name) : undefined;
  };
  return {
    names,
    find,
    get(type, name) {
      const found = find(type, name);
      if (found !== undefined) return found;
      throw failedPrecondition(
        `dependencies: expected a ${type.api} "${name}", found ${names.join(', ') || 'none'}; name it in "depends_on", or as required in validate`,
      );
    },
  };
}
