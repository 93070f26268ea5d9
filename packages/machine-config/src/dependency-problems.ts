import type { MachineConfig, Problem, ResourceConfig } from './schema.ts';
import { shown } from './shown.ts';

/**
 * `depends_on` that nothing answers, and circles. In a document with fragments or remotes a missing name is only a warning:
 * it may come with them.
 */
export function dependencyProblems(config: MachineConfig, positions: ReadonlyMap<ResourceConfig, string>): Problem[] {
  const problems: Problem[] = [];
  const level = config.fragments.length + config.remotes.length > 0 ? 'warning' : 'error';
  const resources = [...config.components, ...config.services];
  const byName = new Map<string, ResourceConfig>();
  for (const resource of resources) {
    byName.set(resource.name, resource);
    byName.set(`${resource.api}/${resource.name}`, resource);
  }
  for (const resource of resources) {
    const path = `${positions.get(resource)}.depends_on`;
    resource.depends_on.forEach((name, at) => {
      if (byName.has(canonical(name))) return;
      const message = `expected the name of a component or service, found ${shown(name)}, which ${resource.name} depends on`;
      problems.push({ path: `${path}[${at}]`, level, message });
    });
    const circle = circleFrom(resource, byName);
    if (circle !== undefined)
      problems.push({ path, level: 'error', message: `expected no circle, found ${circle.join(' → ')}` });
  }
  return problems;
}

const canonical = (name: string): string => (name.startsWith('rdk:') ? `core:${name.slice(4)}` : name);

/** The way from `start` back to itself along `depends_on`. */
function circleFrom(start: ResourceConfig, byName: ReadonlyMap<string, ResourceConfig>): string[] | undefined {
  const seen = new Set<ResourceConfig>();
  const walk = (resource: ResourceConfig, way: string[]): string[] | undefined => {
    for (const name of resource.depends_on) {
      const next = byName.get(canonical(name));
      if (next === start) return [...way, start.name];
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...way, next.name]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, [start.name]);
}
