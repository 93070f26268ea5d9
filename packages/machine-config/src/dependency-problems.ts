import { canonicalApi, type Problem } from '@platform/base';
import { resourcesByName } from './canonical-names.ts';
import { formatValue } from './format-value.ts';
import type { MachineConfig, ResourceConfig } from './schema.ts';

/** Names of a circle that its problem tells; of a longer one the first and the last. */
const shownNames = 10;

/**
 * `depends_on` that nothing answers, and circles. In a document with fragments or remotes a missing name is only a warning:
 * it may come with them. So is the name of a disabled resource: it can be enabled again.
 */
export function dependencyProblems(
  config: MachineConfig,
  positions: ReadonlyMap<ResourceConfig, string>,
  disabled: readonly ResourceConfig[] = [],
): Problem[] {
  const problems: Problem[] = [];
  const level = config.fragments.length + config.remotes.length > 0 ? 'warning' : 'error';
  const resources = [...config.components, ...config.services];
  const byName = resourcesByName(resources);
  const off = resourcesByName(disabled);
  const circles = circlesIn(nodesOf(resources, byName));
  for (const resource of resources) {
    const path = `${positions.get(resource)}.depends_on`;
    resource.depends_on.forEach((name, at) => {
      if (byName.has(canonicalApi(name))) return;
      if (off.has(canonicalApi(name))) {
        const message = `${formatValue(name)} is disabled: ${resource.name}, which depends on it, cannot run`;
        problems.push({ path: `${path}[${at}]`, level: 'warning', message });
        return;
      }
      const message = `expected the name of a component or service, found ${formatValue(name)}, which ${resource.name} depends on`;
      problems.push({ path: `${path}[${at}]`, level, message });
    });
    const circle = circles.get(resource);
    if (circle !== undefined) problems.push({ path, level: 'error', message: `expected no cycle, found ${circle}` });
  }
  return problems;
}

/** A resource with what it depends on, or a name that several bear with those: else edges would be as many as pairs. */
interface Node {
  /** For messages. */
  readonly label: string;
  readonly resource: ResourceConfig | undefined;
  next: readonly Node[];
}

function nodesOf(
  resources: readonly ResourceConfig[],
  byName: ReadonlyMap<string, readonly ResourceConfig[]>,
): readonly Node[] {
  const nodes = new Map(resources.map((resource) => [resource, { label: resource.name, resource, next: [] } as Node]));
  const nodeOf = (resource: ResourceConfig): Node | readonly Node[] => nodes.get(resource) ?? [];
  const meant = new Map<string, readonly Node[]>();
  for (const [name, found] of byName) {
    const bearers = found.flatMap(nodeOf);
    meant.set(
      name,
      bearers.length > 1 ? [{ label: `every resource named ${name}`, resource: undefined, next: bearers }] : bearers,
    );
  }
  for (const [{ depends_on }, node] of nodes)
    node.next = depends_on.flatMap((name) => meant.get(canonicalApi(name)) ?? []);
  return [...nodes.values()];
}

/** A node on the way that is walked, and how many of its dependencies are done. */
interface OnTheWay {
  readonly node: Node;
  done: number;
}

/**
 * The resources of which a dependency closes a circle, each with one. One walk over all, without recursion: what users save
 * may be tens of thousands in a chain.
 */
function circlesIn(nodes: readonly Node[]): ReadonlyMap<ResourceConfig, string> {
  const circles = new Map<ResourceConfig, string>();
  /** Its place on the way; -1 once all that it leads to is walked. */
  const places = new Map<Node, number>();
  for (const start of nodes) {
    if (places.has(start)) continue;
    const way: OnTheWay[] = [];
    const enter = (node: Node): void => {
      places.set(node, way.length);
      way.push({ node, done: 0 });
    };
    enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const next = top.node.next[top.done++];
      if (next === undefined) {
        places.set(top.node, -1);
        way.pop();
        continue;
      }
      const place = places.get(next);
      const closing = top.node.resource ?? way.at(-2)?.node.resource;
      if (place === undefined) enter(next);
      else if (place >= 0 && closing !== undefined && !circles.has(closing))
        circles.set(closing, circleText(way, place));
    }
  }
  return circles;
}

/** From the node at `place` by the last on the way, which closes the circle, back to it. */
function circleText(way: readonly OnTheWay[], place: number): string {
  const labelAt = (index: number): string => way[index]?.node.label ?? '';
  const length = way.length - place;
  const first = Array.from({ length: Math.min(length, shownNames) - 1 }, (_, index) => labelAt(place + index));
  const more = length > shownNames ? [`(${length - shownNames} more)`] : [];
  return [...first, ...more, labelAt(way.length - 1), labelAt(place)].join(' → ');
}
