/** From the running resources and a new configuration to ordered steps. Pure. */

import type { ResourceConfig } from '@platform/machine-config/schema';
import { formatResourceName } from '@platform/resources';

export interface Plan {
  /** Full names to close, dependents before what they depend on. */
  readonly remove: readonly string[];
  /** Configurations to build, dependencies first; one that runs already is built beside and swapped. */
  readonly build: readonly ResourceConfig[];
}

/** @param running configurations by full name. */
export function plan(running: ReadonlyMap<string, ResourceConfig>, wanted: readonly ResourceConfig[]): Plan {
  const ordered = inDependencyOrder(wanted);
  const names = new Set(ordered.map(formatResourceName));
  const changed = new Set<string>();
  const build = ordered.filter((config) => {
    const full = formatResourceName(config);
    const now = running.get(full);
    const same = now !== undefined && JSON.stringify(now) === JSON.stringify(config);
    // What depends on a rebuilt resource holds the old one, so it is rebuilt too.
    if (same && !dependenciesOf(config, ordered).some((dependency) => changed.has(dependency))) return false;
    changed.add(full);
    return true;
  });
  const gone = inDependencyOrder([...running.values()]).filter((config) => !names.has(formatResourceName(config)));
  return { remove: gone.map(formatResourceName).toReversed(), build };
}

/** Dependencies before dependents; otherwise as configured. Circles are refused by the configuration's schema and end here. */
export function inDependencyOrder(configs: readonly ResourceConfig[]): ResourceConfig[] {
  const ordered: ResourceConfig[] = [];
  const state = new Set<ResourceConfig>();
  const visit = (config: ResourceConfig): void => {
    if (state.has(config)) return;
    state.add(config);
    const names = dependenciesOf(config, configs);
    for (const other of configs) if (names.includes(formatResourceName(other))) visit(other);
    ordered.push(config);
  };
  for (const config of configs) visit(config);
  return ordered;
}

/** Full names of the configured resources that `depends_on` names, short or full. */
export function dependenciesOf(config: ResourceConfig, configs: readonly ResourceConfig[]): string[] {
  return configs
    .filter(
      (other) =>
        other !== config && config.depends_on.some((name) => name === other.name || name === formatResourceName(other)),
    )
    .map(formatResourceName);
}
