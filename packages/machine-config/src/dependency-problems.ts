import { canonicalApi, type Problem } from '@platform/base';
import { resourcesByName } from './canonical-names.ts';
import { formatValue } from './format-value.ts';
import type { MachineConfig, ResourceConfig } from './schema.ts';

/** How many names of a cycle its problem lists; for a longer cycle, the first and the last ones. */
const shownNames = 10;

/**
 * Unresolved `depends_on` names, and cycles. In a document with fragments or remotes an unresolved name is only a warning, because they may
 * provide it. The name of a disabled resource is also only a warning, because the resource can be enabled again.
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
  // Which resources a remote has is known only to the machine.
  const isOfRemote = (name: string): boolean =>
    config.remotes.some((remote) => name.slice(name.indexOf('/') + 1).startsWith(`${remote['name']}:`));
  const circles = circlesIn(nodesOf(resources, byName));
  for (const resource of resources) {
    const path = `${positions.get(resource)}.depends_on`;
    resource.depends_on.forEach((name, at) => {
      if (byName.has(canonicalApi(name)) || isOfRemote(name)) return;
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

/**
 * A resource with its dependencies, or a name shared by several resources with links to them: otherwise there would be an edge for each
 * pair.
 */
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

/** A node on the current path, and how many of its dependencies are done. */
interface OnTheWay {
  readonly node: Node;
  done: number;
}

/**
 * The resources with a dependency that closes a cycle, each with one such cycle. One walk over all resources, without recursion: users may
 * save chains of tens of thousands.
 */
function circlesIn(nodes: readonly Node[]): ReadonlyMap<ResourceConfig, string> {
  const circles = new Map<ResourceConfig, string>();
  /** Its position on the path; -1 once everything reachable from it has been walked. */
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

/** The cycle as text: from the node at `place` to the last one on the path, and back. */
function circleText(way: readonly OnTheWay[], place: number): string {
  const labelAt = (index: number): string => way[index]?.node.label ?? '';
  const length = way.length - place;
  const first = Array.from({ length: Math.min(length, shownNames) - 1 }, (_, index) => labelAt(place + index));
  const more = length > shownNames ? [`(${length - shownNames} more)`] : [];
  return [...first, ...more, labelAt(way.length - 1), labelAt(place)].join(' → ');
}
