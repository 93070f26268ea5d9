import type { ResourceConfig } from '@platform/machine-config/schema';
import { formatResourceName } from '@platform/resources';

const names = new WeakMap<ResourceConfig, string>();

/** The full name of a resource, computed once for each configuration of it, because a graph of thousands needs it very often. */
export function fullNameOf(config: ResourceConfig): string {
  let name = names.get(config);
  if (name === undefined) {
    name = formatResourceName(config);
    names.set(config, name);
  }
  return name;
}
