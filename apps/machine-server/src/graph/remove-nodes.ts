/** Removes resources, dependents before their dependencies. */
import type { ResourceConfig } from '@platform/machine-config/schema';
import { fullNameOf } from './full-name.ts';
import { type Node, type ResourceState, type ResourceStatus, withImplicit } from './node.ts';
import type { OldVersions } from './old-versions.ts';
import { dependenciesAmong, inDependencyOrder } from './plan.ts';

export interface RemoveNodesDeps {
  readonly nodes: Map<string, Node>;
  readonly oldVersions: OldVersions;
  statusOf(config: ResourceConfig, state: ResourceState, error?: string): ResourceStatus;
}

/** Never rejects; resolves when all of them are gone. @param names full names, in any order */
export async function removeNodes(names: readonly string[], deps: RemoveNodesDeps): Promise<void> {
  const configs = names.flatMap((full) => deps.nodes.get(full) ?? []).map(withImplicit);
  const ordered = inDependencyOrder(configs).map(fullNameOf).toReversed();
  const nodes = ordered.flatMap((full) => deps.nodes.get(full) ?? []);
  const dependents = new Map<string, Node[]>(nodes.map(({ full }) => [full, []]));
  const dependencies = dependenciesAmong(nodes.map(withImplicit));
  for (const node of nodes)
    for (const full of dependencies.get(node.full)?.found ?? []) dependents.get(full)?.push(node);
  for (const node of nodes) {
    node.attempt?.supersede();
    node.attempt = undefined;
    const first = (dependents.get(node.full) ?? []).flatMap(({ removal }) => removal ?? []);
    node.removal ??= remove(node, first, deps);
  }
  await Promise.all(nodes.flatMap(({ removal }) => removal ?? []));
}

async function remove(
  node: Node,
  first: readonly Promise<void>[],
  { nodes, oldVersions, statusOf }: RemoveNodesDeps,
): Promise<void> {
  await Promise.all(first);
  node.status = statusOf(node.config, 'removing');
  if (node.resource !== undefined) await oldVersions.close(node.resource, node.full, node.full);
  node.resource = undefined;
  if (nodes.get(node.full) === node) nodes.delete(node.full);
  await oldVersions.closeUnused(nodes);
}
