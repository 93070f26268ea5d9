/** Reports attributes that the models of the running resources do not know: each in the log when it appears, all of them in the status. */
import type { Log, Steps } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { unknownAttributes } from '@platform/machine-config/unknown-attributes';
import { formatResourceName } from '@platform/resources';

export class AttributeWarnings {
  readonly #log: Log;
  #byName: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #found = new WeakMap<ResourceConfig, readonly string[]>();

  /** @param log the log of the resources */
  constructor(log: Log) {
    this.#log = log;
  }

  /** @param full its full name */
  of(full: string): readonly string[] {
    return this.#byName.get(full) ?? [];
  }

  /** All resources of the configuration. */
  *set(resources: readonly ResourceConfig[]): Steps<void> {
    const before = this.#byName;
    const byName = new Map<string, readonly string[]>();
    for (const resource of resources) {
      yield;
      const texts = this.#textsOf(resource);
      if (texts.length === 0) continue;
      const full = formatResourceName(resource);
      byName.set(full, texts);
      const known = before.get(full) ?? [];
      const log = this.#log.child(full);
      const told = new Set(known);
      for (const text of texts) {
        if (told.has(text)) continue;
        log.warn(text, { resource: full });
        yield;
      }
    }
    this.#byName = byName;
  }

  /** Once for each resource: those that an edit does not change are the same objects in the next configuration. */
  #textsOf(resource: ResourceConfig): readonly string[] {
    const texts =
      this.#found.get(resource) ??
      unknownAttributes(resource, 'attributes').map(({ path, message }) => `${path}: ${message}`);
    this.#found.set(resource, texts);
    return texts;
  }
}
