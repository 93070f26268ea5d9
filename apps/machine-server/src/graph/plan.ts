/** Computes the ordered steps from the running resources to a new configuration. Pure. */

import { isSame } from '@platform/base';
import { isForService, resourcesByName } from '@platform/machine-config/canonical-names';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { fullNameOf } from './full-name.ts';
import type { Associated } from './model.ts';
import { remoteShortNames } from './remote-resource.ts';

export interface Plan {
  /** Full names to close, dependents before their dependencies. */
  readonly remove: readonly string[];
  /** Configurations to build, dependencies first; for a running one, the new version is built beside it and swapped. */
  readonly build: readonly ResourceConfig[];
}

/** The resources to which a resource's `depends_on` refers. */
export interface Dependencies {
  /** Full names, in the order of the configuration. */
  readonly found: readonly string[];
  /** Names as written that match no resource. */
  readonly unknown: readonly string[];
}

const none: Dependencies = { found: [], unknown: [] };

/** @param running configurations by full name. */
export function plan(running: ReadonlyMap<string, ResourceConfig>, wanted: readonly ResourceConfig[]): Plan {
  const present = [...running.values()];
  // Most resources have no settings for services.
  const [presentSettings, wantedSettings] = [present.filter(hasSettings), wanted.filter(hasSettings)];
  const ordered = inDependencyOrder(wanted);
  const dependencies = dependenciesAmong(ordered);
  const changed = new Set<string>();
  const build = ordered.filter((config) => {
    const full = fullNameOf(config);
    const now = running.get(full);
    const same =
      now !== undefined &&
      isSame(now, config) &&
      (!isService(config) ||
        fingerprint(associatedWith(now, presentSettings)) === fingerprint(associatedWith(config, wantedSettings)));
    // Dependents of a rebuilt resource hold the old one, so they are rebuilt too.
    if (same && !dependencies.get(full)?.found.some((dependency) => changed.has(dependency))) return false;
    changed.add(full);
    return true;
  });
  const gone = inDependencyOrder(present)
    .map(fullNameOf)
    .filter((full) => !dependencies.has(full));
  return { remove: gone.toReversed(), build };
}

const isService = ({ api }: Pick<ResourceConfig, 'api'>): boolean => api.includes(':service:');

const hasSettings = ({ service_configs: settings }: ResourceConfig): boolean => settings.length > 0;

/** The settings that other resources have for this service. */
export function associatedWith({ api }: ResourceConfig, configs: readonly ResourceConfig[]): Associated[] {
  if (!isService({ api })) return [];
  return configs.flatMap(({ api: of, name, service_configs }) => {
    const own = service_configs.filter(({ type }) => isForService(type, api));
    return own.length === 0 ? [] : [{ api: of, name, service_configs: own }];
  });
}

/** Ignores the order. */
function fingerprint(associated: readonly Associated[]): string {
  return associated
    .map((each) => JSON.stringify(each))
    .toSorted()
    .join('\n');
}

/**
 * Dependencies before dependents; otherwise as configured. The schema of configurations refuses cycles; here a cycle only ends the walk.
 */
export function inDependencyOrder(configs: readonly ResourceConfig[]): ResourceConfig[] {
  const byName = new Map<string, ResourceConfig>();
  for (const config of configs) byName.set(fullNameOf(config), config);
  if (!configs.some(dependsOnOthers)) return [...byName.values()];
  const dependencies = dependenciesAmong(configs);
  const ordered: ResourceConfig[] = [];
  const seen = new Set<string>();
  const visit = (full: string): void => {
    const config = byName.get(full);
    if (config === undefined || seen.has(full)) return;
    seen.add(full);
    for (const other of (dependencies.get(full) ?? none).found) visit(other);
    ordered.push(config);
  };
  for (const full of byName.keys()) visit(full);
  return ordered;
}

/** By full name. */
export function dependenciesAmong(configs: readonly ResourceConfig[]): ReadonlyMap<string, Dependencies> {
  const all = new Map<string, Dependencies>();
  for (const config of configs) all.set(fullNameOf(config), none);
  if (!configs.some(dependsOnOthers)) return all;
  const positions = new Map(configs.map((config, position) => [fullNameOf(config), position]));
  const byName = new Map([...remoteShortNames(configs), ...resourcesByName(configs)]);
  const inOrder = (a: string, b: string): number => (positions.get(a) ?? 0) - (positions.get(b) ?? 0);
  for (const config of configs) {
    if (!dependsOnOthers(config)) continue;
    const full = fullNameOf(config);
    const found = new Set(config.depends_on.flatMap((name) => byName.get(name)?.map(fullNameOf) ?? []));
    found.delete(full);
    const unknown = config.depends_on.filter((name) => !byName.has(name));
    all.set(full, { found: [...found].toSorted(inOrder), unknown });
  }
  return all;
}

/** Most resources depend on none. */
function dependsOnOthers({ depends_on: names }: ResourceConfig): boolean {
  return names.length > 0;
}
