/** The dependencies between the wanted resources, and the order in which they are built. */
import { notFound, unavailable } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import { fullNameOf } from './full-name.ts';
import { type Node, withImplicit } from './node.ts';
import { type Dependencies, dependenciesAmong, inDependencyOrder } from './plan.ts';

const none: Dependencies = { found: [], unknown: [] };

export class Relations {
  /** In build order. A cycle is broken by building its first resource without the rest. */
  #dependencies: ReadonlyMap<string, Dependencies> = new Map();
  #positions: ReadonlyMap<string, number> = new Map();

  /** Recomputes the relations. */
  relate(wanted: readonly ResourceConfig[], nodes: ReadonlyMap<string, Node>): void {
    const configs = wanted.map((config) => {
      const node = nodes.get(fullNameOf(config));
      return node === undefined ? config : withImplicit({ config, implicit: node.implicit });
    });
    const ordered = inDependencyOrder(configs);
    this.#dependencies = dependenciesAmong(ordered);
    const positions = new Map<string, number>();
    for (const config of ordered) positions.set(fullNameOf(config), positions.size);
    this.#positions = positions;
  }

  /** Full names of its dependencies. */
  foundBy(full: string): readonly string[] {
    return (this.#dependencies.get(full) ?? none).found;
  }

  /** Whether the first is built before the second. */
  isBefore(first: string, second: string): boolean {
    return this.#positionOf(first) < this.#positionOf(second);
  }

  /** Waits for the attempts of its dependencies, including attempts that replace them meanwhile. */
  async attemptsDone(full: string, nodes: ReadonlyMap<string, Node>, signal: AbortSignal): Promise<void> {
    const before = this.foundBy(full);
    while (!signal.aborted) {
      const pending = before
        .filter((each) => this.isBefore(each, full))
        .flatMap((each) => nodes.get(each)?.attempt?.done ?? []);
      if (pending.length === 0) return;
      await Promise.all(pending);
    }
  }

  inBuildOrder(nodes: readonly Node[]): Node[] {
    return nodes.toSorted((a, b) => this.#positionOf(a.full) - this.#positionOf(b.full));
  }

  /** The running resources that it depends on. @param get the running resource of a full name @throws PlatformError if one is missing */
  resourcesFor({ full, implicit }: Node, get: (full: string) => Resource | undefined): ReadonlyMap<string, Resource> {
    const { found, unknown: all } = this.#dependencies.get(full) ?? none;
    const unknown = all.filter((name) => !implicit.optional.includes(name));
    if (unknown[0] !== undefined)
      throw notFound(
        `${JSON.stringify(unknown[0])}, which it depends on, is not in the configuration, or is disabled there`,
      );
    const isOptional = (name: string): boolean =>
      implicit.optional.some((each) => name === each || name.endsWith(`/${each}`));
    return new Map(
      found.flatMap((name): [string, Resource][] => {
        const resource = get(name);
        if (resource !== undefined) return [[name, resource]];
        if (isOptional(name)) return [];
        throw unavailable(`${name}, which it depends on, is not available yet`);
      }),
    );
  }

  #positionOf(full: string): number {
    return this.#positions.get(full) ?? Number.POSITIVE_INFINITY;
  }
}
