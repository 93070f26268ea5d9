import { canonicalApi } from '@platform/base';
import type { MachineConfig, Problem, ResourceConfig } from './schema.ts';
import { shown } from './shown.ts';

/** Names of a circle that its problem tells; of a longer one the first and the last. */
const shownNames = 10;

/**
 * `depends_on` that nothing answers, and circles. In a document with fragments or remotes a missing name is only a warning:
 * it may come with them.
 *
 * @param met called for each resource and each of its dependencies that is looked at
 */
export function dependencyProblems(
  config: MachineConfig,
  positions: ReadonlyMap<ResourceConfig, string>,
  met: () => void = () => {},
): Problem[] {
  const problems: Problem[] = [];
  const level = config.fragments.length + config.remotes.length > 0 ? 'warning' : 'error';
  const resources = [...config.components, ...config.services];
  const byName = new Map<string, ResourceConfig>();
  for (const resource of resources) {
    byName.set(resource.name, resource);
    byName.set(`${resource.api}/${resource.name}`, resource);
  }
  const circles = circlesIn(resources, byName, met);
  for (const resource of resources) {
    const path = `${positions.get(resource)}.depends_on`;
    resource.depends_on.forEach((name, at) => {
      if (byName.has(canonicalApi(name))) return;
      const message = `expected the name of a component or service, found ${shown(name)}, which ${resource.name} depends on`;
      problems.push({ path: `${path}[${at}]`, level, message });
    });
    const circle = circles.get(resource);
    if (circle !== undefined) problems.push({ path, level: 'error', message: `expected no circle, found ${circle}` });
  }
  return problems;
}

/** A resource on the way that is walked, and how many of its dependencies are done. */
interface OnTheWay {
  readonly resource: ResourceConfig;
  done: number;
}

/**
 * The resources of which a dependency closes a circle, each with one. One walk over all, without recursion: what users save
 * may be tens of thousands in a chain.
 */
function circlesIn(
  resources: readonly ResourceConfig[],
  byName: ReadonlyMap<string, ResourceConfig>,
  met: () => void,
): ReadonlyMap<ResourceConfig, string> {
  const circles = new Map<ResourceConfig, string>();
  /** Its place on the way; -1 once all that it leads to is walked. */
  const places = new Map<ResourceConfig, number>();
  for (const start of resources) {
    if (places.has(start)) continue;
    const way: OnTheWay[] = [];
    const enter = (resource: ResourceConfig): void => {
      met();
      places.set(resource, way.length);
      way.push({ resource, done: 0 });
    };
    enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const name = top.resource.depends_on[top.done++];
      if (name === undefined) {
        places.set(top.resource, -1);
        way.pop();
        continue;
      }
      met();
      const next = byName.get(canonicalApi(name));
      if (next === undefined) continue;
      const place = places.get(next);
      if (place === undefined) enter(next);
      else if (place >= 0 && !circles.has(top.resource)) circles.set(top.resource, circleText(way, place));
    }
  }
  return circles;
}

/** From the resource at `place` by the last on the way, which closes the circle, back to it. */
function circleText(way: readonly OnTheWay[], place: number): string {
  const nameAt = (index: number): string => way[index]?.resource.name ?? '';
  const length = way.length - place;
  const first = Array.from({ length: Math.min(length, shownNames) - 1 }, (_, index) => nameAt(place + index));
  const more = length > shownNames ? [`(${length - shownNames} more)`] : [];
  return [...first, ...more, nameAt(way.length - 1), nameAt(place)].join(' → ');
}
