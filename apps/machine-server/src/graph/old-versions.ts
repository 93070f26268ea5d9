/** Old versions of resources, which stay open while their dependents still use them. */
import { type Clock, errorText, type Log } from '@platform/base';
import type { Resource } from '@platform/resources';
import type { Node } from './node.ts';
import { withTimeout } from './with-timeout.ts';

export interface OldVersionsDeps {
  /** The longest wait for a resource to close. */
  readonly configureTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export class OldVersions {
  readonly #deps: OldVersionsDeps;
  readonly #replaced = new Map<Resource, { readonly full: string; readonly uses: ReadonlyMap<string, Resource> }>();

  constructor(deps: OldVersionsDeps) {
    this.#deps = deps;
  }

  /** @param uses the dependencies with which the old version was built */
  add(old: Resource, full: string, uses: ReadonlyMap<string, Resource>): void {
    this.#replaced.set(old, { full, uses });
  }

  /** Closes those that are no longer used, because their dependents have been rebuilt. */
  async closeUnused(nodes: ReadonlyMap<string, Node>): Promise<void> {
    while (this.#replaced.size > 0) {
      const used = new Set<Resource>();
      const add = (uses: ReadonlyMap<string, Resource>): void => {
        if (uses.size > 0) for (const resource of uses.values()) used.add(resource);
      };
      for (const { uses, buildingWith } of nodes.values()) {
        add(uses);
        add(buildingWith);
      }
      for (const { uses } of this.#replaced.values()) add(uses);
      const unused = [...this.#replaced].filter(([resource]) => !used.has(resource));
      if (unused.length === 0) return;
      for (const [resource] of unused) this.#replaced.delete(resource);
      await Promise.all(unused.map(([resource, { full }]) => this.close(resource, full, `the old version of ${full}`)));
    }
  }

  /** Never rejects. @param what names it in the log */
  async close(resource: Resource, full: string, what: string): Promise<void> {
    const { configureTimeoutMs: limitMs, clock, log } = this.#deps;
    try {
      await withTimeout(resource.close(), limitMs, `it was not closed within ${limitMs} ms`, clock);
    } catch (caught) {
      log.child(full).warn(`closing ${what} failed: ${errorText(caught)}`, { resource: full });
    }
  }
}
